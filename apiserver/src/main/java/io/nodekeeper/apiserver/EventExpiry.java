package io.nodekeeper.apiserver;

import io.nodekeeper.store.Entry;
import io.nodekeeper.store.Event;
import io.nodekeeper.store.Listing;
import io.nodekeeper.store.Store;
import io.nodekeeper.store.StoreException;
import io.nodekeeper.time.Loop;
import java.time.Duration;
import java.util.ArrayDeque;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Removes Events once they are old. Each write of an event starts its time anew (as Kubernetes takes a new etcd lease), so
 * the writes in their order are also the order of expiry; one that was overtaken by a later write no longer has that
 * revision and is passed over. After a restart all events there are start anew. Confined to the store's loop.
 */
final class EventExpiry implements Store.Watcher {
    private static final Logger log = LoggerFactory.getLogger(EventExpiry.class);
    /** How late an event may go. Chosen. */
    private static final Duration SWEEP = Duration.ofSeconds(10);

    private record Due(String key, long revision, long at) {}

    private final Store store;
    private final Loop loop;
    private final Duration ttl;
    private final ArrayDeque<Due> queue = new ArrayDeque<>();
    /** The latest revision of an event in the queue, or that was in it. */
    private long known;

    EventExpiry(Store store, Loop loop, Duration ttl) {
        this.store = store;
        this.loop = loop;
        this.ttl = ttl;
    }

    void start() {
        loop.execute(() -> {
            follow();
            sweep();
        });
    }

    private void follow() {
        Listing now = store.list(Resources.EVENTS.prefix(""), "", 0, 0);
        now.entries().stream().filter(entry -> entry.modRevision() > known).forEach(this::add);
        store.watch(Resources.EVENTS.prefix(""), now.revision(), this);
    }

    @Override
    public void onEvent(Event event) {
        event.after().ifPresent(this::add);
    }

    @Override
    public void onCompacted(StoreException.Compacted why) {
        log.info("Events are looked at anew: {}", why.getMessage());
        follow();
    }

    private void add(Entry entry) {
        known = Math.max(known, entry.modRevision());
        queue.add(new Due(entry.key(), entry.modRevision(), loop.clock().nanoTime() + ttl.toNanos()));
    }

    private void sweep() {
        long now = loop.clock().nanoTime();
        while (!queue.isEmpty() && queue.peek().at - now <= 0) {
            Due due = queue.poll();
            if (store.get(due.key)
                    .filter(entry -> entry.modRevision() == due.revision)
                    .isPresent()) {
                store.delete(due.key, due.revision).exceptionally(error -> {
                    log.debug("{} was not removed: {}", due.key, error.getMessage());
                    return 0L;
                });
            }
        }
        loop.schedule(SWEEP, this::sweep);
    }
}
