package io.nodekeeper.time;

import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A few daemon threads for short tasks that do not block, such as those of an HTTP client. Unlike {@link Workers} it
 * refuses nothing: the caller must limit its tasks. Idle threads exit. Thread-safe.
 */
public final class ThreadPool implements Executor, AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(ThreadPool.class);

    private final String name;
    private final ThreadPoolExecutor pool;

    /** A pool of at most {@code threads} threads named {@code name}. */
    public ThreadPool(String name, int threads) {
        this.name = name;
        pool = new ThreadPoolExecutor(
                threads, threads, 30, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), NamedThreads.daemon(name));
        pool.allowCoreThreadTimeOut(true);
    }

    /** Runs {@code task} soon; throws RejectedExecutionException once the pool is closed. */
    @Override
    public void execute(Runnable task) {
        pool.execute(task);
    }

    /**
     * Runs {@code task} soon, or drops it if the pool is closed. For clients such as gRPC, which end their connections by
     * tasks, also after the pool was closed, when these no longer matter.
     */
    public void executeOrDrop(Runnable task) {
        try {
            execute(task);
        } catch (RejectedExecutionException e) {
            log.debug("the pool {} is closed; a task is dropped", name, e);
        }
    }

    /** Ends the threads when the waiting tasks have run; refuses others. Idempotent. */
    public void closeWhenIdle() {
        pool.shutdown();
    }

    /** Ends the threads; drops waiting tasks. Idempotent. */
    @Override
    public void close() {
        pool.shutdownNow();
    }
}
