package io.nodekeeper.controller.guard;

import io.nodekeeper.api.Failures;
import io.nodekeeper.api.ResourceType;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.client.KubeClient;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;

/**
 * Reads objects live. Requests for the same object share reads, and no object is read twice at the same time.
 *
 * <p>A request gets only a read that was sent after the request was made. So its result says as much as that of a read of its
 * own: it is as new, and it has the taints and the deletions that its own would have. A request that comes while its object is
 * being read waits for the next read, together with all others that come meanwhile. It waits for at most two reads.
 *
 * <p>The earlier read would be enough for some refusals, because a renewTime only grows. It would not be for others: the
 * lease may have been deleted since, or the node may have got a taint that justifies an eviction. And a read that shows a
 * silent node would let a write pass although the node has renewed its lease since.
 *
 * <p>Thread-safe; results complete on any thread.
 */
final class LiveReads {
    /**
     * The most reads at the same time. At 30 ms per read, they are enough for 1,000 per second. Half of the connections of
     * a transport, so that the switch is read meanwhile; a slow API server must not get more load from the guard.
     */
    static final int MOST_READS = 32;
    /** The most objects for which requests wait. As many as there are reviews, each of which needs two at most. */
    static final int MOST_WAITING = 2 * Reviewer.MOST_REVIEWS;

    private record Target(ResourceType type, String namespace, String name) {}

    /** A read that has not been sent, for all requests that came since the last one of its object was sent. */
    private static final class Waiting {
        private final CompletableFuture<JsonObject> result = new CompletableFuture<>();
        /** When the last request came, nanoseconds. */
        private long wantedAt;
    }

    private final KubeClient client;
    private final long patience;
    /** At most {@link #MOST_WAITING}. */
    private final Map<Target, Waiting> waiting = new HashMap<>();
    /** The targets of {@link #waiting} whose object is not being read, in the order in which they may be sent. */
    private final ArrayDeque<Target> ready = new ArrayDeque<>();
    /** The objects that are being read; at most {@link #MOST_READS}. */
    private final Set<Target> reading = new HashSet<>();

    /**
     * Reads by {@code client}, within its deadline.
     *
     * @param patience how long a request waits for its result; a read that no request waits for any more is not sent
     */
    LiveReads(KubeClient client, Duration patience) {
        this.client = client;
        this.patience = patience.toNanos();
    }

    /** The object as it is at a time after this call; fails as {@link KubeClient#get} does, or if too many wait. */
    CompletableFuture<JsonObject> read(ResourceType type, String namespace, String name) {
        Target target = new Target(type, namespace, name);
        CompletableFuture<JsonObject> result;
        synchronized (this) {
            Waiting same = waiting.get(target);
            if (same == null) {
                if (waiting.size() >= MOST_WAITING) {
                    return CompletableFuture.failedFuture(
                            new IllegalStateException("reads of " + MOST_WAITING + " objects are waiting already"));
                }
                same = new Waiting();
                waiting.put(target, same);
                if (!reading.contains(target)) {
                    ready.add(target);
                }
            }
            same.wantedAt = now();
            // A copy, so that a request that gives up takes no result from the others.
            result = same.result.copy();
        }
        send();
        return result;
    }

    private void send() {
        for (Optional<Runnable> next = next(); next.isPresent(); next = next()) {
            next.get().run();
        }
    }

    /** What to do without the lock: send the next read, or fail it; empty if none may be sent now. */
    private synchronized Optional<Runnable> next() {
        if (reading.size() >= MOST_READS || ready.isEmpty()) {
            return Optional.empty();
        }
        Target target = ready.remove();
        Waiting next = Objects.requireNonNull(waiting.remove(target), "what is ready waits");
        if (now() - next.wantedAt > patience) {
            return Optional.of(() -> next.result.completeExceptionally(
                    new IllegalStateException("reads of other objects take too long")));
        }
        reading.add(target);
        return Optional.of(() -> client.get(target.type, target.namespace, target.name)
                .whenComplete((object, error) -> {
                    ended(target);
                    if (error == null) {
                        next.result.complete(object);
                    } else {
                        next.result.completeExceptionally(Failures.cause(error));
                    }
                }));
    }

    private void ended(Target target) {
        synchronized (this) {
            reading.remove(target);
            if (waiting.containsKey(target)) {
                ready.add(target);
            }
        }
        send();
    }

    private long now() {
        return client.loop().clock().nanoTime();
    }

    /** The number of reads that have been sent and not answered. */
    synchronized int reading() {
        return reading.size();
    }

    /** The number of objects for which requests wait. */
    synchronized int waiting() {
        return waiting.size();
    }
}
