package io.nodekeeper.apiserver.controllers;

import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.apiserver.catalogue.Resources;
import io.nodekeeper.apiserver.registry.Resource;
import io.nodekeeper.apiserver.storage.PrefixFollower;
import io.nodekeeper.apiserver.writes.CollectionDeleter;
import io.nodekeeper.apiserver.writes.WriteHandler;
import io.nodekeeper.store.Entry;
import io.nodekeeper.store.Store;
import io.nodekeeper.time.Loop;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Completes the deletion of namespaces: deletes their objects, then the namespaces. It waits for objects with finalizers, and for pods
 * whose nodes end them. Each deleted namespace has one chain of passes, which ends when another namespace has taken its
 * name. Confined to the store's loop.
 */
public final class NamespaceController {
    private static final Logger log = LoggerFactory.getLogger(NamespaceController.class);
    private static final Duration RETRY = Duration.ofSeconds(1);
    /** The most objects, and about the most bytes, in a batch; as in {@link CollectionDeleter}. */
    private static final int OBJECTS = 32;

    private static final long BYTES = 1 << 20;

    private final Store store;
    private final Loop loop;
    private final WriteHandler writes;
    /** The UIDs of the namespaces whose objects are being deleted, by name; at most as many as the store has namespaces. */
    private final Map<String, String> emptying = new HashMap<>();

    public NamespaceController(Store store, Loop loop, WriteHandler writes) {
        this.store = store;
        this.loop = loop;
        this.writes = writes;
    }

    public void start() {
        PrefixFollower.follow(
                store,
                loop,
                Resources.NAMESPACES.prefix(""),
                now -> now.forEach(this::consider),
                event -> event.after().ifPresent(this::consider));
    }

    private void consider(Entry entry) {
        JsonObject metadata = Resources.NAMESPACES.codec().decode(entry).object("metadata");
        if (metadata.has("deletionTimestamp")) {
            String name = metadata.text("name");
            String uid = metadata.text("uid");
            if (!uid.equals(emptying.put(name, uid))) {
                empty(name, uid);
            }
        }
    }

    /**
     * Deletes the objects of a namespace, including objects written by other servers, and then the namespace when it is
     * empty.
     */
    private void empty(String name, String uid) {
        store.current().whenComplete((current, error) -> {
            if (error == null) {
                loop.execute(() -> attempt(name, uid, () -> emptyNow(name, uid)));
            } else {
                again(name, uid);
            }
        });
    }

    /** Whether the namespace of that UID is still there and to be deleted. Its name may be that of a new one. */
    private boolean isTerminating(String name, String uid) {
        return store.get(Resources.NAMESPACES.key("", name))
                .map(entry -> Resources.NAMESPACES.codec().decode(entry).object("metadata"))
                .filter(metadata -> metadata.text("uid").equals(uid) && metadata.has("deletionTimestamp"))
                .isPresent();
    }

    /** Ends the chain of passes; the next change of the namespace begins another one. */
    private void stop(String name, String uid) {
        emptying.remove(name, uid);
    }

    /** Runs a part of a pass. A value that cannot be read now must not end the chain. */
    private void attempt(String name, String uid, Runnable part) {
        try {
            part.run();
        } catch (RuntimeException e) {
            log.warn("deleting the objects of namespace {} failed, trying again: {}", name, e.toString());
            again(name, uid);
        }
    }

    private void emptyNow(String name, String uid) {
        List<Resource> kinds = Resources.ALL.stream()
                .filter(resource -> resource.type().namespaced() && resource.isStored())
                .toList();
        new Sweep(name, uid, kinds.iterator()).next();
    }

    /** A pass over all objects of a namespace in batches, so that a full namespace needs no more memory. */
    private final class Sweep {
        private final String name;
        private final String uid;
        private final Iterator<Resource> kinds;
        private Resource kind;
        /** The last processed key. */
        private String after = "";
        /** Whether any object was found. */
        private boolean found;

        private Sweep(String name, String uid, Iterator<Resource> kinds) {
            this.name = name;
            this.uid = uid;
            this.kinds = kinds;
            kind = kinds.next();
        }

        private void next() {
            if (!isTerminating(name, uid)) {
                stop(name, uid);
                return;
            }
            List<CompletableFuture<?>> deletions = new ArrayList<>();
            while (deletions.isEmpty()) {
                long bytes = 0;
                for (Entry entry :
                        store.list(kind.prefix(name), after, OBJECTS, 0).entries()) {
                    if (bytes >= BYTES) {
                        break;
                    }
                    bytes += entry.length();
                    after = entry.key();
                    deletions.add(delete(entry));
                }
                if (deletions.isEmpty()) {
                    if (!kinds.hasNext()) {
                        end();
                        return;
                    }
                    kind = kinds.next();
                    after = "";
                }
            }
            found = true;
            CompletableFuture.allOf(deletions.toArray(CompletableFuture[]::new))
                    .whenComplete((done, error) -> loop.execute(() -> attempt(name, uid, this::next)));
        }

        private CompletableFuture<?> delete(Entry entry) {
            Resource resource = kind;
            String object = entry.key().substring(resource.prefix(name).length());
            CompletableFuture<Boolean> graceful = resource.equals(Resources.PODS)
                    ? store.load(entry).thenApply(this::hasNode)
                    : CompletableFuture.completedFuture(false);
            return graceful.thenCompose(waits -> writes.deleteOwn(resource, name, object, waits))
                    .handle((done, error) -> {
                        if (error != null) {
                            log.debug(
                                    "deleting {} of namespace {} failed for now: {}", object, name, error.getMessage());
                        }
                        return object;
                    });
        }

        /** Whether the pod has a node that can end it. Without one, no agent or kubelet would confirm its end. */
        private boolean hasNode(Entry pod) {
            String node = Resources.PODS.codec().decode(pod).object("spec").text("nodeName");
            return store.get(Resources.NODES.key("", node)).isPresent();
        }

        private void end() {
            if (found) {
                again(name, uid);
                return;
            }
            Optional<Entry> over = store.get(Resources.NAMESPACES.key("", name)).filter(NamespaceController::isOver);
            if (over.isEmpty()) {
                stop(name, uid);
                return;
            }
            store.delete(over.get().key(), over.get().modRevision())
                    .whenComplete((done, error) -> loop.execute(() -> {
                        if (error != null) {
                            again(name, uid);
                        } else {
                            stop(name, uid);
                        }
                    }));
        }
    }

    private void again(String name, String uid) {
        loop.schedule(RETRY, () -> empty(name, uid));
    }

    /** Whether it was deleted and has no other finalizers. */
    private static boolean isOver(Entry entry) {
        JsonObject namespace = Resources.NAMESPACES.codec().decode(entry);
        JsonObject metadata = namespace.object("metadata");
        // This class does the work of the finalizer of this name.
        boolean held =
                namespace.object("spec").array("finalizers").strings().anyMatch(name -> !name.equals("kubernetes"));
        return metadata.has("deletionTimestamp") && metadata.array("finalizers").isEmpty() && !held;
    }
}
