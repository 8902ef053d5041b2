package io.nodekeeper.time;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

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
        CountDownLatch never = new CountDownLatch(1);
        while (!never.await(period.toMillis(), TimeUnit.MILLISECONDS)) {
            task.run();
        }
    }
}
