package io.nodekeeper.client.workqueue;

import io.nodekeeper.api.Failures;
import io.nodekeeper.client.KubeClient;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.EnumMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs a limited number of concurrent jobs; the others wait in the order of their {@link Priority}. The limit adapts to
 * the capacity of the server if the jobs make their calls through a {@link #measured} client. An eighth of it is
 * reserved for urgent jobs. Background jobs and collections together use at most half of it, collections alone at most
 * a quarter, so that collections whose calls hang do not delay evictions. Confined to the loop, on which the results of
 * jobs must complete.
 *
 * <p>The queues have no limit of their own: each submitter must limit its jobs. {@link KeyedJobs} does that with one
 * job for each key.
 */
public final class PriorityWorkQueue {
    /** Receives the number of waiting jobs, for metrics. */
    public interface Watcher {
        /** Ignores all jobs. */
        Watcher NONE = new Watcher() {
            @Override
            public void queued(boolean background, int waiting) {}

            @Override
            public void begun(boolean background, int waiting) {}
        };

        /** A job was queued, and {@code waiting} of its kind wait now. */
        void queued(boolean background, int waiting);

        /** A job began, and {@code waiting} of its kind still wait. */
        void begun(boolean background, int waiting);
    }

    /** The priority of a job, highest first. */
    public enum Priority {
        /** Verdicts on nodes. */
        URGENT,
        /** Taints and conditions of nodes. */
        ORDINARY,
        /** Work for each pod, such as evictions. */
        BACKGROUND,
        /** Deletion of objects that are not urgent. */
        COLLECTION
    }

    /**
     * The concurrent calls that a transport below this queue must allow, so that no urgent job waits there behind others: two
     * for each job, as a verdict reads node and lease at the same time, and 32 for calls that are no jobs, such as canaries and lists.
     */
    public static final int CALLS = 2 * AdaptiveLimit.MAX + 32;

    private static final Logger log = LoggerFactory.getLogger(PriorityWorkQueue.class);
    /** The part of the limit that is reserved for urgent jobs: with the smallest limit, 8, one job. */
    private static final int URGENT_SHARE = 8;
    /** The part of the limit that jobs for pods may use. */
    private static final int BACKGROUND_SHARE = 2;
    /** The part of the limit that collections may use; the rest of the background's part stays free for evictions. */
    private static final int COLLECTION_SHARE = 4;

    private final AdaptiveLimit limit;
    /** What waits, by priority. Bounded by the submitters, see above. */
    private final Map<Priority, Deque<Supplier<? extends CompletionStage<?>>>> queues = new EnumMap<>(Priority.class);

    private final Map<Priority, Integer> running = new EnumMap<>(Priority.class);
    private final Watcher watcher;
    private boolean draining;
    private boolean closed;

    /** Creates a queue with the default initial limit. */
    public PriorityWorkQueue() {
        this(Watcher.NONE);
    }

    /** The same, watched. */
    public PriorityWorkQueue(Watcher watcher) {
        this(AdaptiveLimit.START, watcher);
    }

    /** A queue that runs at most {@code limit} jobs at the same time, until measured calls change the limit. */
    public PriorityWorkQueue(int limit) {
        this(limit, Watcher.NONE);
    }

    private PriorityWorkQueue(int limit, Watcher watcher) {
        this.watcher = watcher;
        this.limit = new AdaptiveLimit(limit);
        for (Priority priority : Priority.values()) {
            queues.put(priority, new ArrayDeque<>());
            running.put(priority, 0);
        }
    }

    /** The same client, whose calls this queue measures to adapt its limit. Its loop is this queue's. */
    public KubeClient measured(KubeClient client) {
        return client.observedBy((call, nanos, now, error) -> {
            limit.measured(
                    now,
                    !call.method().equals("GET"),
                    nanos,
                    error.filter(Failures::mayPass).isPresent());
            drain();
        });
    }

    /** How many jobs may be under way at this moment; for metrics. */
    public int limit() {
        return limit.limit();
    }

    /** How many jobs are under way; for metrics. */
    public int underWay() {
        return limit.underWay();
    }

    /** How many jobs wait; for metrics. */
    public int waiting() {
        return waiting(false) + waiting(true);
    }

    /** Runs {@code job} before all that is not urgent. */
    public void urgent(Supplier<? extends CompletionStage<?>> job) {
        submit(Priority.URGENT, job);
    }

    /** Runs {@code job} when no job of a higher priority waits; drops it if this queue is closed. */
    public void submit(Priority priority, Supplier<? extends CompletionStage<?>> job) {
        if (closed) {
            return;
        }
        queue(priority).add(job);
        boolean background = isBackground(priority);
        watcher.queued(background, waiting(background));
        drain();
    }

    /** Drops what waits and takes no more. */
    public void close() {
        closed = true;
        queues.values().forEach(Deque::clear);
    }

    /** Whether {@link #close} was called; then it starts no more work. */
    public boolean isClosed() {
        return closed;
    }

    private void drain() {
        // A job that ends immediately calls this method again. The loop below handles that without recursion.
        if (draining) {
            return;
        }
        draining = true;
        boolean more = true;
        while (more) {
            more = !closed && startNext();
        }
        draining = false;
    }

    private boolean startNext() {
        for (Priority priority : Priority.values()) {
            if (!queue(priority).isEmpty() && hasRoom(priority)) {
                start(priority, queue(priority).remove());
                return true;
            }
        }
        return false;
    }

    private boolean hasRoom(Priority priority) {
        int all = limit.limit();
        int free = all - limit.underWay();
        int reserve = all / URGENT_SHARE;
        if (priority == Priority.URGENT) {
            int urgent = running(Priority.URGENT);
            boolean overrun = limit.underWay() - urgent > all - reserve;
            return free > 0 || overrun && urgent < limit.min();
        }
        if (free <= reserve) {
            return false;
        }
        int collections = running(Priority.COLLECTION);
        return switch (priority) {
            case URGENT, ORDINARY -> true;
            case BACKGROUND -> running(Priority.BACKGROUND) + collections < share(all, BACKGROUND_SHARE);
            case COLLECTION ->
                collections < share(all, COLLECTION_SHARE)
                        && running(Priority.BACKGROUND) + collections < share(all, BACKGROUND_SHARE);
        };
    }

    private static int share(int all, int part) {
        return Math.max(1, all / part);
    }

    private void start(Priority priority, Supplier<? extends CompletionStage<?>> job) {
        limit.begin();
        boolean background = isBackground(priority);
        watcher.begun(background, waiting(background));
        running.merge(priority, 1, Integer::sum);
        CompletionStage<?> stage;
        try {
            stage = job.get();
        } catch (RuntimeException e) {
            stage = CompletableFuture.failedFuture(e);
        }
        stage.whenComplete((value, error) -> {
            if (error != null) {
                log.error("a job failed unexpectedly", error);
            }
            limit.end();
            running.merge(priority, -1, Integer::sum);
            drain();
        });
    }

    private Deque<Supplier<? extends CompletionStage<?>>> queue(Priority priority) {
        return Objects.requireNonNull(queues.get(priority));
    }

    private int running(Priority priority) {
        return Objects.requireNonNull(running.get(priority));
    }

    private int waiting(boolean background) {
        int waiting = 0;
        for (Priority priority : Priority.values()) {
            waiting += isBackground(priority) == background ? queue(priority).size() : 0;
        }
        return waiting;
    }

    private static boolean isBackground(Priority priority) {
        return priority.compareTo(Priority.BACKGROUND) >= 0;
    }
}
