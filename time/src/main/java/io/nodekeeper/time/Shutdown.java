package io.nodekeeper.time;

import java.util.concurrent.CountDownLatch;

/** The end of a process: SIGTERM and SIGINT stop it cleanly. */
public final class Shutdown {
    private Shutdown() {}

    /** Runs {@code stop} when the process is told to end, before it ends. */
    public static void onSignal(Runnable stop) {
        Runtime.getRuntime().addShutdownHook(new Thread(stop, "shutdown"));
    }

    /** Keeps the calling thread until the process is told to end. */
    public static void await() throws InterruptedException {
        new CountDownLatch(1).await();
    }
}
