package io.nodekeeper.time;

import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Virtual threads, one for each task, for tasks that wait for sockets most of the time: while one waits, it needs no thread of
 * the operating system. Refuses nothing: the caller must limit its tasks. Thread-safe.
 */
public final class VirtualThreads implements Executor, AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(VirtualThreads.class);

    private final ExecutorService threads;

    /** Threads named {@code name} and a number. */
    public VirtualThreads(String name) {
        threads = Executors.newThreadPerTaskExecutor(
                Thread.ofVirtual().name(name + "-", 0).factory());
    }

    /** Runs {@code task} soon; throws RejectedExecutionException once this is closed. */
    @Override
    public void execute(Runnable task) {
        threads.execute(task);
    }

    /** Runs {@code task} soon, or drops it if this is closed; as {@link ThreadPool#executeOrDrop}. */
    public void executeOrDrop(Runnable task) {
        try {
            execute(task);
        } catch (RejectedExecutionException e) {
            log.debug("the threads are closed; a task is dropped", e);
        }
    }

    /** Interrupts the tasks and takes no more. Does not wait for their end. Idempotent. */
    @Override
    public void close() {
        threads.shutdownNow();
    }
}
