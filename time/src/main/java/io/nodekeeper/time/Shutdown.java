package io.nodekeeper.time;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Runs cleanup when the process is asked to exit, by SIGTERM or SIGINT. */
public final class Shutdown {
    private Shutdown() {}

    /** Runs {@code stop} when the process is asked to exit, before it exits. */
    public static void onSignal(Runnable stop) {
        Runtime.getRuntime().addShutdownHook(new Thread(stop, "shutdown"));
    }

    /** Blocks the calling thread until the process is asked to exit. */
    public static void await() throws InterruptedException {
        new CountDownLatch(1).await();
    }

    /** The same, and runs {@code task} on the calling thread after each {@code period}. */
    public static void await(Duration period, Runnable task) throws InterruptedException {
        try {
            await(new CompletableFuture<Void>(), period, task);
        } catch (ExecutionException e) {
            throw new IllegalStateException("nobody completes it", e);
        }
    }

    /** Blocks the calling thread until {@code end} completes, and runs {@code task} on it after each {@code period}. */
    public static <T> T await(CompletableFuture<T> end, Duration period, Runnable task)
            throws InterruptedException, ExecutionException {
        while (true) {
            try {
                return end.get(period.toMillis(), TimeUnit.MILLISECONDS);
            } catch (TimeoutException e) {
                task.run();
            }
        }
    }
}
