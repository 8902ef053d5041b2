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
 * it. So 10,000 watches of single nodes do not slow down a change of another node. A watch whose watcher throws anything, errors of
 * the JVM too, ends with {@code onCompacted}, because its watcher may have missed a change; the others receive each change. Confined
 * to the store's loop.
 */
final class Watchers {
    private static final Logger log = LoggerFactory.getLogger(Watchers.class);

    /** A watcher and the revision after which it receives changes. Several changes may share a revision. */
    static final class Subscription {
        private final String target;
        private final Store.Watcher watcher;
        private final long after;
        /** The revision of the last change that was offered. */
        private long offered;
        /** Whether it received changes since it was last settled. */
        private boolean unsettled;

        private boolean ended;

        Subscription(String target, long after, Store.Watcher watcher) {
            this.target = target;
            this.after = after;
            this.offered = after;
            this.watcher = watcher;
        }

        String target() {
            return target;
        }

        boolean covers(String key) {
            return Watchers.covers(target, key);
        }

        /** Whether it ended, because its watcher failed or the history has a gap. */
        boolean ended() {
            return ended;
        }

        void offer(Event event) {
            if (event.revision() > after && !ended) {
                offered = event.revision();
                unsettled = true;
                run(() -> watcher.onEvent(event));
            }
        }

        void settle() {
            if (unsettled) {
                unsettled = false;
                run(watcher::onSettled);
            }
        }

        private void run(Runnable delivery) {
            try {
                delivery.run();
            } catch (RuntimeException | Error e) {
                log.error("a watcher of {} failed at revision {}; its watch ends", target, offered, e);
                end(offered);
            }
        }

        /** Ends the watch: the history is complete only from {@code oldest} on. */
        private void end(long oldest) {
            ended = true;
            unsettled = false;
            try {
                watcher.onCompacted(new StoreException.Compacted(after, oldest));
            } catch (RuntimeException | Error e) {
                log.error("a watcher of {} failed when its watch was ended", target, e);
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
        all.forEach(subscription -> subscription.end(oldest));
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
        for (Subscription subscription : unsettled) {
            subscription.settle();
            if (subscription.ended) {
                remove(subscription);
            }
        }
        unsettled.clear();
    }

    private void offerTo(String target, Event event) {
        List<Subscription> peers = byTarget.get(target);
        if (peers != null) {
            // From the end, by index: a watcher may cancel itself or end during the call.
            for (int i = peers.size() - 1; i >= 0; i--) {
                Subscription peer = peers.get(i);
                boolean first = !peer.unsettled;
                peer.offer(event);
                if (peer.ended) {
                    remove(peer);
                } else if (first && peer.unsettled) {
                    unsettled.add(peer);
                }
            }
        }
    }
}
