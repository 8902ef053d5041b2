package io.nodekeeper.time;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Executor;
import java.util.function.Function;

/** What futures lack. */
public final class Futures {
    private Futures() {}

    /**
     * {@code future} itself if it is complete; otherwise one that {@code executor} completes with the same result. So what follows
     * runs on the caller's thread or there, and not on the thread that completes {@code future}.
     */
    public static <T> CompletableFuture<T> nowOrOn(Executor executor, CompletableFuture<T> future) {
        return future.isDone() ? future : future.thenApplyAsync(Function.identity(), executor);
    }

    /**
     * Waits for the result of {@code future}. An unchecked exception with which it failed is thrown as it is, without the
     * {@link CompletionException} around it.
     *
     * @throws CompletionException if the failure is not an unchecked exception
     */
    public static <T> T join(CompletableFuture<T> future) {
        try {
            return future.join();
        } catch (CompletionException e) {
            throw e.getCause() instanceof RuntimeException cause ? cause : e;
        }
    }
}
