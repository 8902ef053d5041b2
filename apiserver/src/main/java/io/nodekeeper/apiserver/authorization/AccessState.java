package io.nodekeeper.apiserver.authorization;

import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.apiserver.authorization.node.NodeGraph;
import io.nodekeeper.apiserver.authorization.rbac.Binding;
import io.nodekeeper.apiserver.authorization.rbac.BuiltInRoles;
import io.nodekeeper.apiserver.authorization.rbac.Role;
import io.nodekeeper.apiserver.catalogue.AccessResources;
import io.nodekeeper.apiserver.catalogue.ClusterResources;
import io.nodekeeper.apiserver.catalogue.Resources;
import io.nodekeeper.apiserver.catalogue.StorageResources;
import io.nodekeeper.apiserver.registry.Resource;
import io.nodekeeper.apiserver.storage.PrefixFollower;
import io.nodekeeper.apiserver.wire.Protobuf;
import io.nodekeeper.store.Entry;
import io.nodekeeper.store.Event;
import io.nodekeeper.store.Store;
import io.nodekeeper.time.Loop;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Caches the data of authorization and updates it by watches: the policy of all roles and bindings, and the objects of
 * each node. Authorization therefore reads nothing from the store. Reads are thread-safe; changes happen on the store's
 * loop.
 */
public final class AccessState {
    /**
     * How many pods one task of the loop reads at the start: about 20 ms of work, so that other tasks are not delayed.
     */
    private static final int TURN = 500;

    private static final Policy BUILT_IN = Policy.of(
            Stream.of(BuiltInRoles.clusterRoles(), BuiltInRoles.roles())
                    .flatMap(List::stream)
                    .map(Role::of)
                    .toList(),
            Stream.of(BuiltInRoles.clusterRoleBindings(), BuiltInRoles.roleBindings())
                    .flatMap(List::stream)
                    .map(Binding::of)
                    .toList());

    private final Store store;
    private final Loop loop;
    private final NodeGraph graph = new NodeGraph();
    private final Policy policy = new Policy();

    /** The policy of the built-in roles. The first call reads them. */
    public static Policy builtIn() {
        return BUILT_IN;
    }

    /** Reads the stored objects immediately, so that a restart does not refuse what was granted before. */
    public AccessState(Store store, Loop loop) {
        this.store = store;
        this.loop = loop;
        for (Resource resource : AccessResources.STORED) {
            store.list(resource.prefix(""), "", 0, 0).entries().forEach(entry -> take(resource, entry));
        }
    }

    /** Starts the watches. */
    public void start() {
        AccessResources.STORED.forEach(this::followAccess);
        followPods();
        followAttachments();
        followVolumes();
    }

    /** The policy of what is stored. If no role is stored yet, the built-in ones apply, which are about to be written. */
    public Policy policy() {
        return policy.isEmpty() ? BUILT_IN : policy;
    }

    /** About how many bytes of memory the stored roles and bindings take. */
    long policyBytes() {
        return policy.bytes();
    }

    /** About how many bytes of memory the stored roles and bindings of {@code namespace} take. */
    long policyBytes(String namespace) {
        return policy.bytes(namespace);
    }

    /** About how many bytes of memory the relations of pods take. */
    long graphBytes() {
        return graph.bytes();
    }

    /** About how many bytes of memory the relations of pods in {@code namespace} take. */
    long graphBytes(String namespace) {
        return graph.bytes(namespace);
    }

    NodeGraph graph() {
        return graph;
    }

    private void followAccess(Resource resource) {
        String prefix = resource.prefix("");
        follow(
                prefix,
                now -> {
                    now.forEach(entry -> take(resource, entry));
                    Set<String> present = now.stream().map(Entry::key).collect(Collectors.toSet());
                    policy.removeIf(key -> key.startsWith(prefix) && !present.contains(key));
                },
                event -> event.after()
                        .ifPresentOrElse(entry -> take(resource, entry), () -> policy.remove(event.key())));
    }

    private void followPods() {
        String prefix = Resources.PODS.prefix("");
        follow(
                prefix,
                now -> {
                    graph.removeIf(key -> key.startsWith(prefix));
                    inTurns(now, 0);
                },
                event -> event.after().ifPresentOrElse(this::takePod, () -> graph.remove(event.key())));
    }

    private void followAttachments() {
        String prefix = ClusterResources.VOLUME_ATTACHMENTS.prefix("");
        follow(
                prefix,
                now -> {
                    graph.removeIf(key -> key.startsWith(prefix));
                    now.forEach(this::takeAttachment);
                },
                event -> event.after().ifPresentOrElse(this::takeAttachment, () -> graph.remove(event.key())));
    }

    private void followVolumes() {
        String prefix = StorageResources.PERSISTENT_VOLUMES.prefix("");
        follow(
                prefix,
                now -> {
                    graph.removeIf(key -> key.startsWith(prefix));
                    now.forEach(this::takeVolume);
                },
                event -> event.after().ifPresentOrElse(this::takeVolume, () -> graph.remove(event.key())));
    }

    private void follow(String prefix, Consumer<List<Entry>> begin, Consumer<Event> change) {
        PrefixFollower.follow(store, loop, prefix, begin, change);
    }

    private void take(Resource resource, Entry entry) {
        if (AccessResources.isRole(resource)) {
            policy.put(entry.key(), Role.of(read(entry, Role.FIELDS)));
        } else {
            policy.put(entry.key(), Binding.of(read(entry, Binding.FIELDS)));
        }
    }

    /** Reads only {@code fields}: the store's loop does it, and an object may have a megabyte of others. */
    private static JsonObject read(Entry entry, JsonObject fields) {
        byte[] value = entry.value();
        return Protobuf.begins(value) ? Protobuf.decode(value) : Json.parseFields(value, fields);
    }

    private void takePod(Entry entry) {
        // The only later change of what a pod uses: containers that are added for debugging.
        if (!graph.knows(entry.key()) || Resources.PODS.codec().mayContain(entry, "ephemeralContainers")) {
            graph.pod(entry.key(), read(entry, NodeGraph.POD_FIELDS));
        }
    }

    private void takeAttachment(Entry entry) {
        graph.volumeAttachment(
                entry.key(), ClusterResources.VOLUME_ATTACHMENTS.codec().decode(entry));
    }

    private void takeVolume(Entry entry) {
        graph.volume(entry.key(), StorageResources.PERSISTENT_VOLUMES.codec().decode(entry));
    }

    private void inTurns(List<Entry> pods, int from) {
        int end = Math.min(pods.size(), from + TURN);
        for (Entry entry : pods.subList(from, end)) {
            // The current state: events of later deletions have already been processed.
            store.get(entry.key()).ifPresent(this::takePod);
        }
        if (end < pods.size()) {
            loop.execute(() -> inTurns(pods, end));
        }
    }
}
