package io.nodekeeper.time;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

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
     * What {@code call} returns; a future that failed with what it throws, or because it finds no thread, for callers that clean up
     * when a call ends.
     */
    public static <T> CompletableFuture<T> start(Supplier<CompletableFuture<T>> call) {
        try {
            return call.get();
        } catch (RuntimeException | OutOfMemoryError e) {
            return CompletableFuture.failedFuture(e);
        }
    }

    /**
     * As {@link #start}, on {@code executor}; a future that failed if the executor is closed or finds no thread. If it is cancelled
     * before the executor has begun, nothing is called.
     */
    public static <T> CompletableFuture<T> startOn(Executor executor, Supplier<CompletableFuture<T>> call) {
        try {
            CompletableFuture<CompletableFuture<T>> started = CompletableFuture.supplyAsync(call, executor);
            CompletableFuture<T> result = started.thenCompose(Function.identity());
            onCancel(result, () -> started.cancel(true));
            return result;
        } catch (RejectedExecutionException | OutOfMemoryError e) {
            return CompletableFuture.failedFuture(e);
        }
    }

    /** As {@link CompletableFuture#thenCombine}, but cancelling the result cancels both. */
    public static <A, B, T> CompletableFuture<T> both(
            CompletableFuture<A> first, CompletableFuture<B> second, BiFunction<A, B, T> combine) {
        CompletableFuture<T> result = first.thenCombine(second, combine);
        onCancel(result, () -> {
            first.cancel(true);
            second.cancel(true);
        });
        return result;
    }

    /** Runs {@code cancelling} when {@code result} is cancelled, which does not end the work behind it by itself. */
    public static void onCancel(CompletableFuture<?> result, Runnable cancelling) {
        result.whenComplete((value, error) -> {
            if (result.isCancelled()) {
                cancelling.run();
            }
        });
    }

    /** Completes {@code result} as another future has ended: with {@code value}, or with {@code error} if there is one. */
    public static <T> void complete(CompletableFuture<T> result, T value, @Nullable Throwable error) {
        if (error == null) {
            result.complete(value);
        } else {
            result.completeExceptionally(error);
        }
    }

    /** What {@code work} returns, which starts when {@code before} has ended, in whatever way. */
    public static <T> CompletableFuture<T> after(CompletableFuture<?> before, Supplier<CompletableFuture<T>> work) {
        return before.handle((done, error) -> work.get()).thenCompose(Function.identity());
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
