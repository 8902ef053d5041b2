package io.nodekeeper.time;

import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * Threads for calls that may block (file systems, DNS, starting processes), so that no loop ever blocks. The pool is
 * bounded: when every thread is stuck and the queue is full, a further call fails immediately with that reason.
 * Thread-safe.
 */
public final class Workers implements BlockingCalls, Executor, AutoCloseable {
    /**
     * The most waiting calls. Normally only a few wait, so a full queue means that the threads are stuck, and a longer
     * one would only hold more work that cannot finish.
     */
    private static final int QUEUE = 1_024;

    private final ThreadPoolExecutor pool;
    private final Loop deadlines;
    private final String name;

    /** A pool of at most {@code threads} threads named {@code name}; {@code deadlines} runs the timeouts. */
    public Workers(String name, int threads, Loop deadlines) {
        this(name, threads, deadlines, NamedThreads.daemon(name));
    }

    Workers(String name, int threads, Loop deadlines, ThreadFactory factory) {
        this.name = name;
        this.deadlines = deadlines;
        pool = new ThreadPoolExecutor(
                threads, threads, 30, TimeUnit.SECONDS, new LinkedBlockingQueue<>(QUEUE), factory);
        pool.allowCoreThreadTimeOut(true);
    }

    /**
     * Runs {@code call} on a worker. The result fails with {@link DeadlineExceededException} when {@code deadline} passes
     * first; the thread is then interrupted.
     */
    @Override
    public <T> CompletableFuture<T> call(String what, Duration deadline, Callable<T> call) {
        CompletableFuture<T> result = new CompletableFuture<>();
        try {
            var running = pool.submit(() -> {
                try {
                    result.complete(call.call());
                } catch (Throwable e) {
                    result.completeExceptionally(e);
                }
            });
            CompletableFuture<T> timed = Deadlines.within(deadlines, deadline, what, result);
            timed.whenComplete((value, error) -> {
                if (error != null) {
                    running.cancel(true);
                }
            });
            return timed;
        } catch (RejectedExecutionException e) {
            result.completeExceptionally(
                    new IllegalStateException(name + ": no worker is free for " + what + "; all are busy", e));
            return result;
        } catch (OutOfMemoryError e) {
            // The machine has no process id left for a thread. The caller must learn of it as of any other failure.
            result.completeExceptionally(new IllegalStateException(
                    name + ": no worker can be started for " + what + ": " + e.getMessage(), e));
            return result;
        }
    }

    @Override
    public void execute(Runnable task) {
        pool.execute(task);
    }

    @Override
    public void close() {
        pool.shutdownNow();
    }
}
