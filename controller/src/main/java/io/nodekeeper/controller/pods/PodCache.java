package io.nodekeeper.controller.pods;

import io.nodekeeper.api.Condition;
import io.nodekeeper.api.KubeTime;
import io.nodekeeper.api.Toleration;
import io.nodekeeper.api.json.JsonObject;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Caches the relevant state of all pods, by UID and by node. Confined to the loop. */
final class PodCache {
    /** The change of a pod. */
    record Change(TrackedPod pod, boolean added, boolean moved, boolean tolerations) {}

    /**
     * The most texts and tolerations that are shared. Pods usually share few lists; if every pod has its own, the table restarts after
     * this many.
     */
    private static final int SHARED = 10_000;

    private final Map<String, TrackedPod> byUid = new HashMap<>();
    /** In order of arrival, so that each run has the same order of actions. */
    private final Map<String, HostNode> nodes = new LinkedHashMap<>();

    /** The pods of each node that has pods. */
    private final Map<HostNode, List<TrackedPod>> byNode = new IdentityHashMap<>();

    private final Map<Object, Object> shared = new HashMap<>();
    /** The texts and tolerations in {@link #shared}; at most {@link #SHARED} and one list. */
    private int sharedSize;

    private int finished;

    /** The node of that name; a new one, missing since {@code now}, if there is none. */
    HostNode node(String name, long now) {
        return nodes.computeIfAbsent(name, key -> {
            HostNode node = new HostNode(key);
            node.missingSince = now;
            return node;
        });
    }

    /** The node of that name, if it is known or has pods. */
    Optional<HostNode> findNode(String name) {
        return Optional.ofNullable(nodes.get(name));
    }

    /** All nodes, known or with pods. */
    Collection<HostNode> nodes() {
        return Collections.unmodifiableCollection(nodes.values());
    }

    /** Whether {@code pod} is in the cache. */
    boolean isCurrent(TrackedPod pod) {
        return byUid.get(pod.uid) == pod;
    }

    /** All pods. */
    Collection<TrackedPod> pods() {
        return Collections.unmodifiableCollection(byUid.values());
    }

    /** The pods of that node. */
    List<TrackedPod> pods(HostNode node) {
        return byNode.getOrDefault(node, List.of());
    }

    /** The number of finished pods that are not being deleted. */
    int finished() {
        return finished;
    }

    /** Updates a pod from its newest state. */
    Change put(JsonObject json, long now) {
        JsonObject metadata = json.object("metadata");
        JsonObject spec = json.object("spec");
        String uid = metadata.text("uid");
        HostNode node = node(spec.text("nodeName"), now);
        TrackedPod known = byUid.get(uid);
        TrackedPod pod = known;
        if (pod == null) {
            pod = new TrackedPod(share(metadata.text("namespace"), 1), metadata.text("name"), uid, node);
            byUid.put(uid, pod);
            settle(pod, node);
        }
        boolean moved = pod.node != node;
        if (moved) {
            leave(pod);
            settle(pod, node);
        }
        boolean tolerationsChanged = tolerations(pod, json);
        count(pod, -1);
        pod.created = seconds(metadata.text("creationTimestamp"));
        pod.terminating = metadata.has("deletionTimestamp");
        status(pod, json);
        count(pod, 1);
        return new Change(pod, known == null, moved, tolerationsChanged);
    }

    /** Sets the tolerations; whether they may have changed. */
    private boolean tolerations(TrackedPod pod, JsonObject json) {
        List<Toleration> given = PodParts.tolerations(json);
        List<Toleration> first = given.stream().limit(PodParts.TOLERATIONS).toList();
        boolean sameVersion = pod.version.equals(json.object("metadata").text("resourceVersion"));
        return pod.tolerations(share(first, first.size()), given.size() > first.size(), sameVersion);
    }

    /** Updates a pod from the answer to a write for the version {@code version}, unless the cache has a newer one. */
    void wrote(TrackedPod pod, String version, JsonObject json) {
        if (isCurrent(pod) && pod.version.equals(version)) {
            count(pod, -1);
            status(pod, json);
            count(pod, 1);
        }
    }

    private static void status(TrackedPod pod, JsonObject json) {
        JsonObject status = json.object("status");
        pod.version = json.object("metadata").text("resourceVersion");
        pod.finished = PodParts.isFinished(json);
        pod.evicted =
                status.text("phase").equals("Failed") && status.text("reason").equals("Evicted");
        pod.ready = "";
        pod.readySince = HostNode.NO_TIME;
        status.array("conditions")
                .objects()
                .filter(condition -> condition.text("type").equals(Condition.READY))
                .forEach(condition -> {
                    pod.ready = HostNode.word(condition.text("status"));
                    pod.readySince = seconds(condition.text("lastTransitionTime"));
                });
    }

    /** How many entries each map holds. */
    Map<String, Integer> sizes() {
        return Map.of("pods", byUid.size(), "nodes of pods", nodes.size(), "shared lists", shared.size());
    }

    /** Removes a pod. */
    Optional<TrackedPod> remove(String uid) {
        TrackedPod pod = byUid.remove(uid);
        if (pod == null) {
            return Optional.empty();
        }
        count(pod, -1);
        leave(pod);
        return Optional.of(pod);
    }

    /** Removes a node that is unknown and has no pods. */
    void dropIfUnused(HostNode node) {
        if (!node.known && pods(node).isEmpty()) {
            nodes.remove(node.name, node);
        }
    }

    private void count(TrackedPod pod, int change) {
        finished += pod.finished && !pod.terminating ? change : 0;
    }

    private void settle(TrackedPod pod, HostNode node) {
        List<TrackedPod> pods = byNode.computeIfAbsent(node, first -> new ArrayList<>(1));
        pod.node = node;
        pod.place = pods.size();
        pods.add(pod);
    }

    /** Moves the last pod to its index, so that removal is O(1). */
    private void leave(TrackedPod pod) {
        HostNode node = pod.node;
        List<TrackedPod> pods = pods(node);
        TrackedPod last = pods.removeLast();
        if (last != pod) {
            pods.set(pod.place, last);
            last.place = pod.place;
        }
        if (pods.isEmpty()) {
            byNode.remove(node);
        }
        dropIfUnused(node);
    }

    @SuppressWarnings("unchecked")
    private <T> T share(T value, int size) {
        Object known = shared.get(value);
        if (known != null) {
            return (T) known;
        }
        if (sharedSize >= SHARED) {
            shared.clear();
            sharedSize = 0;
        }
        shared.put(value, value);
        sharedSize += size;
        return value;
    }

    private static long seconds(String time) {
        return KubeTime.parse(time).map(Instant::getEpochSecond).orElse(HostNode.NO_TIME);
    }
}
