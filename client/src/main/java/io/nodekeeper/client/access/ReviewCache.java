package io.nodekeeper.client.access;

import io.nodekeeper.time.Clock;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * Keeps the results of reviews for a time that depends on the result, and lets equal reviews wait for one call. Failed
 * calls are not kept. Confined to a loop, on which the calls complete.
 */
final class ReviewCache<T> {
    private record Kept<T>(CompletableFuture<T> result, long until) {}

    private final Clock clock;
    private final int most;
    private final Function<T, Duration> life;
    /** At most {@code most}, the one that was used longest ago first. */
    private final Map<String, Kept<T>> results = new LinkedHashMap<>(16, 0.75f, true);

    /**
     * An empty cache.
     *
     * @param most the most results
     * @param life how long to keep a result
     */
    ReviewCache(Clock clock, int most, Function<T, Duration> life) {
        this.clock = clock;
        this.most = most;
        this.life = life;
    }

    /** The result for {@code key}, by {@code review} if there is none that is fresh or awaited. */
    CompletableFuture<T> get(String key, Supplier<CompletableFuture<T>> review) {
        Kept<T> kept = results.get(key);
        if (kept != null && (!kept.result.isDone() || kept.until - clock.nanoTime() > 0)) {
            return kept.result;
        }
        CompletableFuture<T> result = review.get();
        if (result.isCompletedExceptionally()) {
            return result;
        }
        Kept<T> awaited = new Kept<>(result, 0);
        put(key, awaited);
        result.whenComplete((value, error) -> {
            // Another review for this key may have begun since.
            if (results.remove(key, awaited) && error == null) {
                keep(key, value);
            }
        });
        return result;
    }

    /** Whether there is a result for {@code key}, fresh or not, or one is awaited. */
    boolean has(String key) {
        return results.containsKey(key);
    }

    /** Keeps a result that was obtained elsewhere. */
    void keep(String key, T value) {
        put(
                key,
                new Kept<>(
                        CompletableFuture.completedFuture(value),
                        clock.nanoTime() + life.apply(value).toNanos()));
    }

    private void put(String key, Kept<T> kept) {
        results.put(key, kept);
        if (results.size() > most) {
            results.remove(results.keySet().iterator().next());
        }
    }

    int size() {
        return results.size();
    }
}
