package io.nodekeeper.apiserver.controllers;

import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.apiserver.catalogue.Resources;
import io.nodekeeper.apiserver.registry.Resource;
import io.nodekeeper.apiserver.writes.CollectionDeleter;
import io.nodekeeper.apiserver.writes.WriteHandler;
import io.nodekeeper.store.Entry;
import io.nodekeeper.store.Event;
import io.nodekeeper.store.Listing;
import io.nodekeeper.store.Store;
import io.nodekeeper.store.StoreException;
import io.nodekeeper.time.Loop;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Completes the deletion of namespaces: deletes their objects, then the namespaces. It waits for objects with
 * finalizers. Confined to the store's loop.
 */
public final class NamespaceController implements Store.Watcher {
    private static final Logger log = LoggerFactory.getLogger(NamespaceController.class);
    private static final Duration RETRY = Duration.ofSeconds(1);
    /** The most objects, and about the most bytes, in a batch; as in {@link CollectionDeleter}. */
    private static final int OBJECTS = 32;

    private static final long BYTES = 1 << 20;

    private final Store store;
    private final Loop loop;
    private final WriteHandler writes;

    public NamespaceController(Store store, Loop loop, WriteHandler writes) {
        this.store = store;
        this.loop = loop;
        this.writes = writes;
    }

    public void start() {
        loop.execute(() -> {
            Listing now = store.list(Resources.NAMESPACES.prefix(""), "", 0, 0);
            now.entries().forEach(this::consider);
            store.watch(Resources.NAMESPACES.prefix(""), now.revision(), this);
        });
    }

    @Override
    public void onEvent(Event event) {
        event.after().ifPresent(this::consider);
    }

    @Override
    public void onCompacted(StoreException.Compacted why) {
        log.info("Listing namespaces again: {}", why.getMessage());
        start();
    }

    private void consider(Entry entry) {
        JsonObject namespace = Resources.NAMESPACES.codec().decode(entry);
        if (namespace.object("metadata").has("deletionTimestamp")) {
            empty(namespace.object("metadata").text("name"));
        }
    }

    /**
     * Deletes the objects of a namespace, including objects written by other servers, and then the namespace when it is
     * empty.
     */
    private void empty(String name) {
        store.current().whenComplete((current, error) -> {
            if (error == null) {
                loop.execute(() -> emptyNow(name));
            } else {
                again(name);
            }
        });
    }

    private void emptyNow(String name) {
        List<Resource> kinds = Resources.ALL.stream()
                .filter(resource -> resource.type().namespaced() && resource.isStored())
                .toList();
        new Sweep(name, kinds.iterator()).next();
    }

    /** A pass over all objects of a namespace in batches, so that a full namespace needs no more memory. */
    private final class Sweep {
        private final String name;
        private final Iterator<Resource> kinds;
        private Resource kind;
        /** The last processed key. */
        private String after = "";
        /** Whether any object was found. */
        private boolean found;

        private Sweep(String name, Iterator<Resource> kinds) {
            this.name = name;
            this.kinds = kinds;
            kind = kinds.next();
        }

        private void next() {
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
                    deletions.add(delete(entry.key().substring(kind.prefix(name).length())));
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
                    .whenComplete((done, error) -> loop.execute(this::next));
        }

        private CompletableFuture<?> delete(String object) {
            return writes.deleteOwn(kind, name, object).handle((done, error) -> {
                if (error != null) {
                    log.debug("deleting {} of namespace {} failed for now: {}", object, name, error.getMessage());
                }
                return object;
            });
        }

        private void end() {
            if (found) {
                again(name);
                return;
            }
            store.get(Resources.NAMESPACES.key("", name))
                    .filter(NamespaceController::isOver)
                    .ifPresent(entry -> store.delete(entry.key(), entry.modRevision())
                            .whenComplete((done, error) -> {
                                if (error != null) {
                                    again(name);
                                }
                            }));
        }
    }

    private void again(String name) {
        loop.schedule(RETRY, () -> empty(name));
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
