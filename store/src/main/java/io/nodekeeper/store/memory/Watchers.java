package io.nodekeeper.store.memory;

import io.nodekeeper.store.Event;
import io.nodekeeper.store.Store;
import io.nodekeeper.store.StoreException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The open watches, indexed by key or prefix. A change is delivered only to the watches of its key and of the prefixes above
 * it. So 10,000 watches of single nodes do not slow down a change of another node. Whatever a watcher throws, errors of the JVM too,
 * the others receive each change. Confined to the store's loop.
 */
final class Watchers {
    private static final Logger log = LoggerFactory.getLogger(Watchers.class);

    /** A watcher and the revision after which it receives changes. Several changes may share a revision. */
    static final class Subscription {
        private final String target;
        private final Store.Watcher watcher;
        private final long after;
        /** Whether it received changes since it was last settled. */
        private boolean unsettled;

        Subscription(String target, long after, Store.Watcher watcher) {
            this.target = target;
            this.after = after;
            this.watcher = watcher;
        }

        String target() {
            return target;
        }

        boolean covers(String key) {
            return Watchers.covers(target, key);
        }

        void offer(Event event) {
            if (event.revision() > after) {
                unsettled = true;
                try {
                    watcher.onEvent(event);
                } catch (RuntimeException | Error e) {
                    log.error("a watcher of {} failed on revision {}", target, event.revision(), e);
                }
            }
        }

        void settle() {
            if (unsettled) {
                unsettled = false;
                try {
                    watcher.onSettled();
                } catch (RuntimeException | Error e) {
                    log.error("a watcher of {} failed", target, e);
                }
            }
        }
    }

    /** Whether a watch of {@code target} covers {@code key}. A target that ends in a slash is a prefix, any other is a key. */
    static boolean covers(String target, String key) {
        return target.endsWith("/") ? key.startsWith(target) : key.equals(target);
    }

    private final Map<String, List<Subscription>> byTarget = new HashMap<>();
    /** The watches that received changes since the last {@link #settle}, each once; at most all. */
    private final List<Subscription> unsettled = new ArrayList<>();

    void add(Subscription subscription) {
        byTarget.computeIfAbsent(subscription.target, target -> new ArrayList<>())
                .add(subscription);
    }

    void remove(Subscription subscription) {
        List<Subscription> peers = byTarget.get(subscription.target);
        if (peers != null && peers.remove(subscription) && peers.isEmpty()) {
            byTarget.remove(subscription.target);
        }
    }

    /** Ends every watch with {@code onCompacted}, because there is a gap in the history before {@code oldest}. */
    void cutOff(long oldest) {
        List<Subscription> all =
                byTarget.values().stream().flatMap(List::stream).toList();
        byTarget.clear();
        for (Subscription subscription : all) {
            try {
                subscription.watcher.onCompacted(new StoreException.Compacted(subscription.after, oldest));
            } catch (RuntimeException | Error e) {
                log.error("a watcher of {} failed when its watch was ended", subscription.target, e);
            }
        }
    }

    void offer(Event event) {
        String key = event.key();
        offerTo(key, event);
        for (int slash = key.indexOf('/', 1); slash >= 0; slash = key.indexOf('/', slash + 1)) {
            offerTo(key.substring(0, slash + 1), event);
        }
    }

    /** Tells the watches that received changes that there are no more for now. */
    void settle() {
        unsettled.forEach(Subscription::settle);
        unsettled.clear();
    }

    private void offerTo(String target, Event event) {
        List<Subscription> peers = byTarget.get(target);
        if (peers != null) {
            // From the end, by index: a watcher may cancel itself during the call.
            for (int i = peers.size() - 1; i >= 0; i--) {
                Subscription peer = peers.get(i);
                boolean first = !peer.unsettled;
                peer.offer(event);
                if (first && peer.unsettled) {
                    unsettled.add(peer);
                }
            }
        }
    }
}
