package io.nodekeeper.apiserver.metrics;

import io.nodekeeper.apiserver.catalogue.Resources;
import io.nodekeeper.apiserver.registry.Resource;
import io.nodekeeper.store.Changes;
import io.nodekeeper.store.Commits;
import io.nodekeeper.store.Entry;
import io.nodekeeper.store.Listing;
import io.nodekeeper.store.Store;
import io.nodekeeper.store.StoreKeys;
import io.nodekeeper.store.Usage;
import io.nodekeeper.time.Clock;
import io.nodekeeper.time.Futures;
import io.prometheus.metrics.core.datapoints.DistributionDataPoint;
import io.prometheus.metrics.core.metrics.Histogram;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/** A store whose writes, and whose reads that may leave this process or its memory, are timed. Thread-safe. */
final class TimedStore implements Store {
    /** Resources by the prefix of their keys. Those of two groups may share it, such as events: the first one gives the name. */
    private static final Map<String, String> TYPES = Resources.ALL.stream()
            .filter(Resource::isStored)
            .collect(Collectors.toMap(
                    resource -> resource.prefix(""),
                    resource -> resource.type().qualifiedName(),
                    (first, second) -> first));

    private final Store store;
    private final Clock clock;
    private final Histogram durations;
    /** The parts of the histogram: the library's look-up by labels takes longer than all other counting. */
    private final Map<Kind, DistributionDataPoint> series = new ConcurrentHashMap<>();

    private record Kind(String operation, String type) {}

    /** {@code durations} has the labels operation and type. */
    TimedStore(Store store, Clock clock, Histogram durations) {
        this.store = store;
        this.clock = clock;
        this.durations = durations;
    }

    /** The result of {@code call}, which is timed without what its receivers do. */
    private <T> CompletableFuture<T> timed(String operation, String key, Supplier<CompletableFuture<T>> call) {
        long began = clock.nanoTime();
        CompletableFuture<T> result = new CompletableFuture<>();
        call.get().whenComplete((value, error) -> {
            Kind kind = new Kind(operation, TYPES.getOrDefault(StoreKeys.resource(key), "other"));
            series.computeIfAbsent(kind, first -> durations.labelValues(first.operation, first.type))
                    .observe((clock.nanoTime() - began) / 1e9);
            Futures.complete(result, value, error);
        });
        return result;
    }

    private static String write(long expected) {
        return expected == 0 ? "create" : "update";
    }

    @Override
    public CompletableFuture<Optional<Entry>> read(String key) {
        return timed("get", key, () -> store.read(key));
    }

    @Override
    public CompletableFuture<Entry> put(String key, byte[] value, long expected) {
        return timed(write(expected), key, () -> store.put(key, value, expected));
    }

    @Override
    public CompletableFuture<Entry> putBatched(String key, byte[] value, long expected) {
        return timed(write(expected), key, () -> store.putBatched(key, value, expected));
    }

    @Override
    public CompletableFuture<Long> delete(String key, long expected) {
        return timed("delete", key, () -> store.delete(key, expected));
    }

    @Override
    public CompletableFuture<Entry> load(Entry entry) {
        return entry.atHand() ? store.load(entry) : timed("get", entry.key(), () -> store.load(entry));
    }

    @Override
    public long revision() {
        return store.revision();
    }

    @Override
    public Optional<Entry> get(String key) {
        return store.get(key);
    }

    @Override
    public boolean alone() {
        return store.alone();
    }

    @Override
    public CompletableFuture<Long> current() {
        return store.current();
    }

    @Override
    public Listing list(String prefix, String after, int limit, long revision) {
        return store.list(prefix, after, limit, revision);
    }

    @Override
    public Commits commits() {
        return store.commits();
    }

    @Override
    public Watch watch(String prefix, long after, Watcher watcher) {
        return store.watch(prefix, after, watcher);
    }

    @Override
    public Changes changes(String prefix, long after, int count, long bytes) {
        return store.changes(prefix, after, count, bytes);
    }

    @Override
    public int capacity() {
        return store.capacity();
    }

    @Override
    public Usage usage() {
        return store.usage();
    }

    @Override
    public boolean healthy() {
        return store.healthy();
    }

    @Override
    public CompletableFuture<Void> close() {
        return store.close();
    }
}
