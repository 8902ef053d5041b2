package io.nodekeeper.time;

import java.time.Duration;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A {@link Loop} with its own daemon thread, on the machine's clocks. Thread-safe. */
public final class ThreadLoop implements Loop {
    private static final Logger log = LoggerFactory.getLogger(ThreadLoop.class);

    private final Clock clock = new SystemClock();
    private final ScheduledThreadPoolExecutor executor;
    private final String name;

    /** Starts a loop whose thread is named {@code name}. */
    public ThreadLoop(String name) {
        this.name = name;
        executor = new ScheduledThreadPoolExecutor(1, NamedThreads.daemon(name));
        executor.setRemoveOnCancelPolicy(true);
        executor.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
    }

    @Override
    public Clock clock() {
        return clock;
    }

    @Override
    public void execute(Runnable task) {
        schedule(Duration.ZERO, task);
    }

    @Override
    public Timer schedule(Duration delay, Runnable task) {
        try {
            Future<?> future = executor.schedule(() -> run(task), delay.toNanos(), TimeUnit.NANOSECONDS);
            return () -> future.cancel(false);
        } catch (RejectedExecutionException e) {
            log.debug("loop {} is closed; a task is dropped", name);
            return () -> {};
        }
    }

    @Override
    public void close() {
        executor.shutdown();
    }

    private void run(Runnable task) {
        try {
            task.run();
        } catch (Throwable e) {
            log.error("a task on loop {} failed", name, e);
            if (e instanceof Error && !(e instanceof AssertionError)) {
                throw e;
            }
        }
    }
}
