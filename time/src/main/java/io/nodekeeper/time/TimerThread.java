package io.nodekeeper.time;

import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/** A daemon thread that keeps time for a library which asks for the JDK's own interface; our code uses a {@link Loop}. */
public final class TimerThread {
    private TimerThread() {}

    /** A timer whose thread bears {@code name}; the thread ends when nothing waits, and comes back. */
    public static ScheduledExecutorService named(String name) {
        ScheduledThreadPoolExecutor timer = new ScheduledThreadPoolExecutor(1, NamedThreads.daemon(name));
        timer.setRemoveOnCancelPolicy(true);
        timer.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
        timer.setKeepAliveTime(30, TimeUnit.SECONDS);
        timer.allowCoreThreadTimeOut(true);
        return timer;
    }
}
