package io.nodekeeper.time;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;

/** Puts deadlines on asynchronous calls. */
public final class Deadlines {
    private Deadlines() {}

    /**
     * A future that completes like {@code future}, or fails with {@link DeadlineExceededException} once {@code deadline}
     * has passed; in that case {@code future} is cancelled, as it is when the returned future is cancelled.
     */
    public static <T> CompletableFuture<T> within(
            Loop loop, Duration deadline, String what, CompletableFuture<T> future) {
        CompletableFuture<T> timed = new CompletableFuture<>();
        Loop.Timer timer = loop.schedule(deadline, () -> {
            if (timed.completeExceptionally(new DeadlineExceededException(what, deadline))) {
                future.cancel(true);
            }
        });
        future.whenComplete((value, error) -> {
            timer.cancel();
            if (error != null) {
                timed.completeExceptionally(error);
            } else {
                timed.complete(value);
            }
        });
        Futures.onCancel(timed, () -> future.cancel(true));
        return timed;
    }

    /** A future that completes on {@code loop} once {@code delay} has passed. */
    public static CompletableFuture<Void> sleep(Loop loop, Duration delay) {
        CompletableFuture<Void> done = new CompletableFuture<>();
        loop.schedule(delay, () -> done.complete(null));
        return done;
    }
}
