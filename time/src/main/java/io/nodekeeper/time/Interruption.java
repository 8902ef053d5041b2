package io.nodekeeper.time;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * Lets a task end early and report what it has when the process is asked to exit, by SIGINT or SIGTERM. The process then exits
 * with 128 plus the signal's number once the task is closed, at the latest after a limit. Thread-safe.
 */
public final class Interruption implements AutoCloseable {
    private final CountDownLatch ended = new CountDownLatch(1);
    private final Thread hook;
    private volatile boolean requested;

    private Interruption(Duration limit, Runnable late) {
        hook = new Thread(() -> await(limit, late), "interruption");
    }

    /**
     * Watches for signals until it is closed.
     *
     * @param limit how long the process waits for the task after a signal
     * @param late runs before the process exits without the task's report
     */
    public static Interruption within(Duration limit, Runnable late) {
        Interruption interruption = new Interruption(limit, late);
        Runtime.getRuntime().addShutdownHook(interruption.hook);
        return interruption;
    }

    /** Whether the task is to end now. */
    public boolean requested() {
        return requested;
    }

    private void await(Duration limit, Runnable late) {
        requested = true;
        try {
            if (!ended.await(limit.toNanos(), TimeUnit.NANOSECONDS)) {
                late.run();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** The task has ended, and has written its report. */
    @Override
    public void close() {
        ended.countDown();
        try {
            Runtime.getRuntime().removeShutdownHook(hook);
        } catch (IllegalStateException e) {
            // The process exits already.
        }
    }
}
