package io.nodekeeper.client.workqueue;

import io.nodekeeper.time.Backoff;
import io.nodekeeper.time.Loop;
import io.nodekeeper.time.TokenBucket;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.BiConsumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs jobs on a {@link PriorityWorkQueue}, at most one for each key: it waits, runs, or pauses before its next run.
 * The number of jobs is therefore bounded by the number of keys. Confined to the loop, on which the results of jobs
 * must complete.
 *
 * <p>Only this class takes and releases keys. A run that throws, or whose result fails, is logged and repeated after a
 * wait, so that no exception leaves a key taken without a next run. The result of each run must complete: every call
 * that it makes needs a deadline.
 *
 * @param <K> the keys, compared with equals
 * @param <J> the jobs
 */
public final class KeyedJobs<K, J extends KeyedJobs.Job> {

    /** The work for one key, over all its runs. */
    public interface Job {
        /** Runs once; the result says whether it runs again. */
        CompletionStage<Next> run();
    }

    /** The next step after a run. */
    public sealed interface Next {
        /** The job is done: the key is released. */
        record Done() implements Next {}

        /** The job runs again after {@code delay}; the key stays taken. */
        record Again(Duration delay) implements Next {}

        /** A completed result: {@link Done}. */
        static CompletionStage<Next> done() {
            return CompletableFuture.completedStage(new Done());
        }

        /** A completed result: {@link Again}. */
        static CompletionStage<Next> again(Duration delay) {
            return CompletableFuture.completedStage(new Again(delay));
        }
    }

    /** Receives the number of jobs that wait for a run, for metrics; those that run or pause do not count. */
    public interface Watcher {
        /** Ignores all jobs. */
        Watcher NONE = new Watcher() {
            @Override
            public void added(int waiting) {}

            @Override
            public void taken(int waiting) {}
        };

        /** A job was queued, and {@code waiting} jobs wait now. */
        void added(int waiting);

        /** A job began, and {@code waiting} jobs still wait. */
        void taken(int waiting);
    }

    private static final Logger log = LoggerFactory.getLogger(KeyedJobs.class);
    /** The waits after runs that end unexpectedly. A programming error rarely goes away, so the waits become long. */
    private static final Backoff UNEXPECTED = new Backoff(Duration.ofSeconds(1), Duration.ofMinutes(5));
    /**
     * The limit of logged unexpected ends: a burst of 5, then one in 10 s, because one fault may affect thousands of
     * keys.
     */
    private static final int LOG_BURST = 5;
    /** See {@link #LOG_BURST}. */
    private static final double LOGS_PER_SECOND = 0.1;

    private static final class Entry<J> {
        private final J job;
        private int unexpected;

        private Entry(J job) {
            this.job = job;
        }
    }

    private final String name;
    private final PriorityWorkQueue workQueue;
    private final PriorityWorkQueue.Priority priority;
    private final Loop loop;
    private final Watcher watcher;
    private final BiConsumer<K, J> released;
    private final TokenBucket logs;
    private long unlogged;
    /** One entry for each key with a job. */
    private final Map<K, Entry<J>> jobs = new HashMap<>();

    private int waiting;

    /**
     * Creates an empty set of jobs.
     * @param name for the log
     * @param released called after a key was released, which may be taken again in it
     */
    public KeyedJobs(
            String name,
            PriorityWorkQueue workQueue,
            PriorityWorkQueue.Priority priority,
            Loop loop,
            Watcher watcher,
            BiConsumer<K, J> released) {
        this.name = name;
        this.workQueue = workQueue;
        this.priority = priority;
        this.loop = loop;
        this.watcher = watcher;
        this.released = released;
        this.logs = new TokenBucket(LOGS_PER_SECOND, LOG_BURST, loop.clock().nanoTime());
    }

    /** The same, without a watcher. */
    public KeyedJobs(
            String name,
            PriorityWorkQueue workQueue,
            PriorityWorkQueue.Priority priority,
            Loop loop,
            BiConsumer<K, J> released) {
        this(name, workQueue, priority, loop, Watcher.NONE, released);
    }

    /** The same, without a watcher and a callback. */
    public KeyedJobs(String name, PriorityWorkQueue workQueue, PriorityWorkQueue.Priority priority, Loop loop) {
        this(name, workQueue, priority, loop, (key, job) -> {});
    }

    /** The job of {@code key}, which waits, runs or pauses. */
    public Optional<J> find(K key) {
        Entry<J> entry = jobs.get(key);
        return entry == null ? Optional.empty() : Optional.of(entry.job);
    }

    /** Whether {@code key} has a job. */
    public boolean contains(K key) {
        return jobs.containsKey(key);
    }

    /** The number of jobs. */
    public int size() {
        return jobs.size();
    }

    /** Lets {@code job} wait for its run; false if the key has a job already or the queue is closed. */
    public boolean submit(K key, J job) {
        Entry<J> entry = new Entry<>(job);
        if (workQueue.isClosed() || jobs.putIfAbsent(key, entry) != null) {
            return false;
        }
        queue(key, entry);
        return true;
    }

    /** The same as {@link #submit} after {@code wait}; the key is taken immediately. */
    public boolean submitAfter(K key, J job, Duration wait) {
        Entry<J> entry = new Entry<>(job);
        if (workQueue.isClosed() || jobs.putIfAbsent(key, entry) != null) {
            return false;
        }
        rest(key, entry, wait);
        return true;
    }

    private void rest(K key, Entry<J> entry, Duration wait) {
        loop.schedule(wait, () -> queue(key, entry));
    }

    private void queue(K key, Entry<J> entry) {
        if (!workQueue.isClosed()) {
            watcher.added(++waiting);
            workQueue.submit(priority, () -> run(key, entry));
        }
    }

    private CompletionStage<?> run(K key, Entry<J> entry) {
        watcher.taken(--waiting);
        CompletionStage<Next> stage;
        try {
            stage = entry.job.run();
        } catch (RuntimeException e) {
            stage = CompletableFuture.failedFuture(e);
        }
        return stage.handle((next, error) -> {
            if (error != null) {
                unexpected(key, entry, error);
            } else {
                entry.unexpected = 0;
                follow(key, entry, next);
            }
            return null;
        });
    }

    private void follow(K key, Entry<J> entry, Next next) {
        switch (next) {
            case Next.Again(Duration delay) -> rest(key, entry, delay);
            case Next.Done() -> {
                jobs.remove(key);
                try {
                    released.accept(key, entry.job);
                } catch (RuntimeException e) {
                    logUnexpected(key, "after its end", e);
                }
            }
        }
    }

    private void unexpected(K key, Entry<J> entry, Throwable error) {
        Duration wait = UNEXPECTED.delay(entry.unexpected++);
        logUnexpected(key, "runs again in " + wait.toSeconds() + " s", error);
        rest(key, entry, wait);
    }

    private void logUnexpected(K key, String text, Throwable error) {
        if (logs.tryTake(loop.clock().nanoTime())) {
            log.error(
                    "{} of {} failed unexpectedly, {} ({} such failures not logged)", name, key, text, unlogged, error);
            unlogged = 0;
        } else {
            unlogged++;
        }
    }
}
