package io.nodekeeper.time;

import java.util.concurrent.CountDownLatch;

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
}
