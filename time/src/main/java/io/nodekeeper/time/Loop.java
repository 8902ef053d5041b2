package io.nodekeeper.time;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;

/**
 * A single-threaded event loop: tasks run one after another, never two at the same time, so state owned by a loop needs no
 * lock. An exception from a task is logged and does not stop the loop. All methods are thread-safe.
 */
public interface Loop extends Executor {

    /** The clock that this loop's timers use. */
    Clock clock();

    /** Runs {@code task} on the loop soon, in submission order. Dropped once the loop is closed. */
    @Override
    void execute(Runnable task);

    /**
     * Runs {@code task} on the loop once {@code delay} has passed by the monotonic clock; a delay of zero or less means
     * soon.
     */
    Timer schedule(Duration delay, Runnable task);

    /** A future that completes on the loop as {@code future} does anywhere. Cancelling it leaves {@code future} alone. */
    default <T> CompletableFuture<T> deliver(CompletableFuture<T> future) {
        CompletableFuture<T> delivered = new CompletableFuture<>();
        future.whenComplete((value, error) -> execute(() -> Futures.complete(delivered, value, error)));
        return delivered;
    }

    /** Stops the loop: the running task finishes, the others are dropped. Idempotent. */
    void close();

    /** A scheduled task. */
    interface Timer {
        /** Cancels the task if it has not started yet. Idempotent. */
        void cancel();
    }
}
