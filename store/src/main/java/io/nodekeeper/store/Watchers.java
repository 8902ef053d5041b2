package io.nodekeeper.store;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Who watches what. A change is offered only to the watchers of its key and of the prefixes above it, so ten thousand
 * watches of single nodes cost a change nothing. Confined to the store's loop.
 */
final class Watchers {
    private static final Logger log = LoggerFactory.getLogger(Watchers.class);

    /** A watcher and the revision after which it wants every change. Several changes may share a revision. */
    static final class Subscription {
        private final String target;
        private final Store.Watcher watcher;
        private final long after;

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
                try {
                    watcher.onEvent(event);
                } catch (RuntimeException e) {
                    log.error("a watcher of {} failed on revision {}", target, event.revision(), e);
                }
            }
        }
    }

    /** Whether a watch of {@code target}, a prefix that ends in a slash or else one key, is one of {@code key}. */
    static boolean covers(String target, String key) {
        return target.endsWith("/") ? key.startsWith(target) : key.equals(target);
    }

    private final Map<String, List<Subscription>> byTarget = new HashMap<>();

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

    /** Ends every watch: what comes next does not follow from what was told so far. */
    void cutOff(long oldest) {
        List<Subscription> all =
                byTarget.values().stream().flatMap(List::stream).toList();
        byTarget.clear();
        for (Subscription subscription : all) {
            try {
                subscription.watcher.onCompacted(new StoreException.Compacted(subscription.after, oldest));
            } catch (RuntimeException e) {
                log.error("a watcher of {} failed at its end", subscription.target, e);
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

    private void offerTo(String target, Event event) {
        List<Subscription> peers = byTarget.get(target);
        if (peers != null) {
            // A watcher may cancel itself while it is told: iterate by index from the end.
            for (int i = peers.size() - 1; i >= 0; i--) {
                peers.get(i).offer(event);
            }
        }
    }
}
