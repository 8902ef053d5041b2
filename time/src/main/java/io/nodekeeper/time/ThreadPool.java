package io.nodekeeper.time;

import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * A few daemon threads for short tasks that do not block, such as those of an HTTP client. Unlike {@link Workers} it
 * refuses nothing: the caller must limit its tasks. Idle threads exit. Thread-safe.
 */
public final class ThreadPool implements Executor, AutoCloseable {
    private final ThreadPoolExecutor pool;

    /** A pool of at most {@code threads} threads named {@code name}. */
    public ThreadPool(String name, int threads) {
        pool = new ThreadPoolExecutor(
                threads, threads, 30, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), NamedThreads.daemon(name));
        pool.allowCoreThreadTimeOut(true);
    }

    /** Runs {@code task} soon; throws RejectedExecutionException once the pool is closed. */
    @Override
    public void execute(Runnable task) {
        pool.execute(task);
    }

    /** Ends the threads; drops waiting tasks. Idempotent. */
    @Override
    public void close() {
        pool.shutdownNow();
    }
}
