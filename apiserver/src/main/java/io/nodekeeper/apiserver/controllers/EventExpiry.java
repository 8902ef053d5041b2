package io.nodekeeper.apiserver.controllers;

import io.nodekeeper.apiserver.catalogue.Resources;
import io.nodekeeper.apiserver.storage.PrefixFollower;
import io.nodekeeper.store.Entry;
import io.nodekeeper.store.Event;
import io.nodekeeper.store.Store;
import io.nodekeeper.time.Loop;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Deletes Events after their time to live. Each write of an event restarts its time (as Kubernetes takes a new etcd
 * lease), so the order of the latest writes is also the order of expiry. A restart restarts the time of all events.
 * Events may use at most a quarter of the store's quota: beyond that the oldest are deleted early. Confined to the
 * store's loop.
 */
public final class EventExpiry {
    private static final Logger log = LoggerFactory.getLogger(EventExpiry.class);
    /**
     * How late an event may be deleted: 10 s is short compared with the default hour, and long enough that deletions
     * are grouped.
     */
    private static final Duration SWEEP = Duration.ofSeconds(10);

    /** The most events that are deleted at once: a group of some milliseconds, for which renewals have to wait. */
    private static final int AT_ONCE = 128;

    /** The time between two such groups. 10,000 nodes write 40,000 events when they register, some 2,000 in a sweep. */
    private static final Duration PAUSE = Duration.ofMillis(50);

    /** Events may use this part of the store's quota. */
    private static final long SHARE = 4;

    private record Due(String key, long revision, long at, int bytes) {}

    private final Store store;
    private final Loop loop;
    private final Duration ttl;
    /** The events that are stored, in the order of their latest writes. Bound: {@link #SHARE} of the store's quota. */
    private final LinkedHashMap<String, Due> queue = new LinkedHashMap<>();

    /** The bytes of the events in the queue. */
    private long bytes;
    /** The latest revision of any event that is or was in the queue. */
    private long known;
    /** Whether a group was deleted, and the next one waits for {@link #resume}. */
    private boolean pausing;

    public EventExpiry(Store store, Loop loop, Duration ttl) {
        this.store = store;
        this.loop = loop;
        this.ttl = ttl;
    }

    public void start() {
        PrefixFollower.follow(store, loop, Resources.EVENTS.prefix(""), this::begin, this::changed);
        loop.execute(this::sweep);
    }

    private void begin(List<Entry> now) {
        now.stream().filter(entry -> entry.modRevision() > known).forEach(this::add);
    }

    private void changed(Event event) {
        event.after().ifPresentOrElse(this::add, () -> forget(event.key()));
        expire();
    }

    private void add(Entry entry) {
        known = Math.max(known, entry.modRevision());
        forget(entry.key());
        int size = entry.key().length() + entry.length();
        queue.put(
                entry.key(),
                new Due(entry.key(), entry.modRevision(), loop.clock().nanoTime() + ttl.toNanos(), size));
        bytes += size;
    }

    private void forget(String key) {
        Due due = queue.remove(key);
        if (due != null) {
            bytes -= due.bytes;
        }
    }

    private void sweep() {
        loop.schedule(SWEEP, this::sweep);
        expire();
    }

    /** Deletes the oldest events above the limit, and those that are due; if the latter are many, in groups. */
    private void expire() {
        long now = loop.clock().nanoTime();
        long quota = store.usage().quota();
        long room = quota == 0 ? Long.MAX_VALUE : quota / SHARE;
        for (int deleted = 0; !queue.isEmpty(); deleted++) {
            Due due = queue.values().iterator().next();
            if (bytes <= room) {
                if (due.at - now > 0 || pausing) {
                    return;
                }
                if (deleted >= AT_ONCE) {
                    pausing = true;
                    loop.schedule(PAUSE, this::resume);
                    return;
                }
            }
            forget(due.key);
            if (store.get(due.key)
                    .filter(entry -> entry.modRevision() == due.revision)
                    .isPresent()) {
                store.delete(due.key, due.revision).exceptionally(error -> {
                    log.debug("deleting {} failed: {}", due.key, error.getMessage());
                    loop.execute(() -> again(due.key));
                    return 0L;
                });
            }
        }
    }

    private void resume() {
        pausing = false;
        expire();
    }

    /** An event whose deletion failed is due again after its time, unless it was deleted or written meanwhile. */
    private void again(String key) {
        if (!queue.containsKey(key)) {
            store.get(key).ifPresent(this::add);
        }
    }
}
