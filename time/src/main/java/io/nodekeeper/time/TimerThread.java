package io.nodekeeper.time;

import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/** Creates daemon timer threads for libraries that require the JDK's own interface; our code uses a {@link Loop}. */
public final class TimerThread {
    private TimerThread() {}

    /** A timer whose thread is named {@code name}; the thread exits when no task waits, and starts again when needed. */
    public static ScheduledExecutorService named(String name) {
        ScheduledThreadPoolExecutor timer = new ScheduledThreadPoolExecutor(1, NamedThreads.daemon(name));
        timer.setRemoveOnCancelPolicy(true);
        timer.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
        timer.setKeepAliveTime(30, TimeUnit.SECONDS);
        timer.allowCoreThreadTimeOut(true);
        return timer;
    }
}
