package io.nodekeeper.apiserver.storage;

import io.nodekeeper.store.Entry;
import io.nodekeeper.store.Event;
import io.nodekeeper.store.Listing;
import io.nodekeeper.store.Store;
import io.nodekeeper.store.StoreException;
import io.nodekeeper.time.Loop;
import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Follows the objects below a prefix of the store. Runs on the store's loop. */
public final class PrefixFollower {
    private static final Logger log = LoggerFactory.getLogger(PrefixFollower.class);

    /** Short, as the server's roles or namespaces are out of date meanwhile; long against the time of a list. */
    private static final Duration RETRY = Duration.ofSeconds(5);

    private PrefixFollower() {}

    /**
     * Passes the present objects to {@code begin}, then each later event to {@code change}. If the history in between is
     * lost, or {@code change} fails, it starts over with {@code begin}. If that fails, too, it tries again after {@link #RETRY}.
     */
    public static void follow(
            Store store, Loop loop, String prefix, Consumer<List<Entry>> begin, Consumer<Event> change) {
        loop.execute(() -> attempt(store, loop, prefix, begin, change));
    }

    private static void attempt(
            Store store, Loop loop, String prefix, Consumer<List<Entry>> begin, Consumer<Event> change) {
        try {
            Listing now = store.list(prefix, "", 0, 0);
            begin.accept(now.entries());
            store.watch(prefix, now.revision(), new Store.Watcher() {
                @Override
                public void onEvent(Event event) {
                    change.accept(event);
                }

                @Override
                public void onCompacted(StoreException.Compacted why) {
                    log.warn("The server lists {} again: {}", prefix, why.getMessage());
                    follow(store, loop, prefix, begin, change);
                }
            });
        } catch (RuntimeException | Error e) {
            log.error("The server cannot take up {} and tries again in {} s", prefix, RETRY.toSeconds(), e);
            loop.schedule(RETRY, () -> attempt(store, loop, prefix, begin, change));
        }
    }
}
