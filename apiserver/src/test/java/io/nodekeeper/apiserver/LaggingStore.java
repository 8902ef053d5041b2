package io.nodekeeper.apiserver;

import io.nodekeeper.store.Changes;
import io.nodekeeper.store.Entry;
import io.nodekeeper.store.Event;
import io.nodekeeper.store.Listing;
import io.nodekeeper.store.Store;
import io.nodekeeper.store.StoreException;
import io.nodekeeper.store.memory.IndexedStore;
import io.nodekeeper.store.memory.WatchCache;
import io.nodekeeper.time.Loop;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/** One server's view of a store that other servers write, too. Its cache can lag until {@link #current} is called. */
final class LaggingStore implements Store {
    private final IndexedStore truth;
    private final Loop loop;
    private final WatchCache heard;
    private final List<Event> coming = new ArrayList<>();
    private boolean late;

    /** A view of {@code truth}. */
    LaggingStore(IndexedStore truth, Loop loop) {
        this.truth = truth;
        this.loop = loop;
        heard = new WatchCache(loop, WatchCache.Limits.DEFAULT);
        truth.watch("/registry/", 0, new Watcher() {
            @Override
            public void onEvent(Event event) {
                coming.add(event);
                if (!late) {
                    hear();
                }
            }

            @Override
            public void onCompacted(StoreException.Compacted why) {
                throw why;
            }
        });
    }

    /** Stops the delivery of changes, or resumes it with all missed changes. */
    void late(boolean late) {
        this.late = late;
        if (!late) {
            hear();
        }
    }

    private void hear() {
        if (!coming.isEmpty()) {
            heard.apply(heard.plan(List.copyOf(coming)));
            heard.deliver(List.copyOf(coming));
            coming.clear();
        }
    }

    @Override
    public long revision() {
        return heard.revision();
    }

    @Override
    public Optional<Entry> get(String key) {
        return heard.get(key);
    }

    @Override
    public boolean alone() {
        return false;
    }

    @Override
    public CompletableFuture<Optional<Entry>> read(String key) {
        return truth.read(key);
    }

    @Override
    public CompletableFuture<Long> current() {
        CompletableFuture<Long> current = new CompletableFuture<>();
        loop.execute(() -> {
            hear();
            current.complete(heard.revision());
        });
        return current;
    }

    @Override
    public Listing list(String prefix, String after, int limit, long revision) {
        return heard.list(prefix, after, limit, revision);
    }

    @Override
    public CompletableFuture<Entry> put(String key, byte[] value, long expected) {
        return truth.put(key, value, expected);
    }

    @Override
    public CompletableFuture<Long> delete(String key, long expected) {
        return truth.delete(key, expected);
    }

    @Override
    public Watch watch(String prefix, long after, Watcher watcher) {
        return heard.watch(prefix, after, watcher);
    }

    @Override
    public Changes changes(String prefix, long after, int count, long bytes) {
        return heard.changes(prefix, after, count, bytes);
    }

    @Override
    public boolean healthy() {
        return truth.healthy();
    }

    @Override
    public CompletableFuture<Void> close() {
        return truth.close();
    }
}
