package io.nodekeeper.time;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Runs cleanup when the process is asked to exit, by SIGTERM or SIGINT. */
public final class Shutdown {
    private static final Logger log = LoggerFactory.getLogger(Shutdown.class);

    private Shutdown() {}

    /** Runs {@code stops} one after another when the process is asked to exit, before it exits. */
    public static void onSignal(Runnable... stops) {
        Runtime.getRuntime().addShutdownHook(new Thread(() -> runAll(stops), "shutdown"));
    }

    /** Runs all of them, also after one that failed. */
    static void runAll(Runnable... stops) {
        for (Runnable stop : stops) {
            try {
                stop.run();
            } catch (RuntimeException | OutOfMemoryError e) {
                // An error, too: the machine may have no process id left for a thread.
                log.error("a part of the process did not stop as it should; the others are stopped now", e);
            }
        }
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
