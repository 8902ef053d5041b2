package io.nodekeeper.client;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Lets a limited number of jobs be under way at once; the rest waits, and urgent ones overtake. The limit follows what the
 * server bears, if the jobs make their calls through a {@link #measured} client. An eighth of it is kept for urgent jobs,
 * so that they need not wait for others to end, and background jobs never use more than half. Confined to the loop, on
 * which the jobs' results have to come.
 */
public final class Lanes {
    /** Hears of jobs that wait; for metrics. */
    public interface Watcher {
        /** Watches nothing. */
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

    private static final Logger log = LoggerFactory.getLogger(Lanes.class);
    /** The part of the limit that is kept for urgent jobs. Chosen. */
    private static final int URGENT_SHARE = 8;

    private final AdaptiveLimit limit;
    private final Deque<Supplier<? extends CompletionStage<?>>> urgent = new ArrayDeque<>();
    private final Deque<Supplier<? extends CompletionStage<?>>> ordinary = new ArrayDeque<>();
    private final Deque<Supplier<? extends CompletionStage<?>>> background = new ArrayDeque<>();
    private final Watcher watcher;
    private int inBackground;
    private boolean draining;
    private boolean closed;

    /** Lanes that begin with a usual limit. */
    public Lanes() {
        this(Watcher.NONE);
    }

    /** The same, watched. */
    public Lanes(Watcher watcher) {
        this(AdaptiveLimit.START, watcher);
    }

    /** Lanes on which {@code limit} jobs may be under way together, until measured calls tell better. */
    public Lanes(int limit) {
        this(limit, Watcher.NONE);
    }

    private Lanes(int limit, Watcher watcher) {
        this.watcher = watcher;
        this.limit = new AdaptiveLimit(limit);
    }

    /** The same client, from whose calls these lanes learn what the server bears. Its loop is the lanes'. */
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
        return urgent.size() + ordinary.size() + background.size();
    }

    /** Runs {@code job} before all that is not urgent. */
    public void urgent(Supplier<? extends CompletionStage<?>> job) {
        urgent.add(job);
        watcher.queued(false, urgent.size() + ordinary.size());
        drain();
    }

    /** Runs {@code job} when nothing urgent waits. */
    public void ordinary(Supplier<? extends CompletionStage<?>> job) {
        ordinary.add(job);
        watcher.queued(false, urgent.size() + ordinary.size());
        drain();
    }

    /** Runs {@code job} when nothing else waits. */
    public void background(Supplier<? extends CompletionStage<?>> job) {
        background.add(job);
        watcher.queued(true, background.size());
        drain();
    }

    /** Drops what waits and takes no more. */
    public void close() {
        closed = true;
        urgent.clear();
        ordinary.clear();
        background.clear();
    }

    /** Whether nothing more is to be done. */
    public boolean isClosed() {
        return closed;
    }

    private void drain() {
        // Jobs that end at once come back here; the loop below goes on for them, not the stack.
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
        int all = limit.limit();
        int free = all - limit.underWay();
        int kept = all / URGENT_SHARE;
        if (free > 0 && !urgent.isEmpty()) {
            start(urgent.remove(), false);
        } else if (free > kept && !ordinary.isEmpty()) {
            start(ordinary.remove(), false);
        } else if (free > kept && inBackground < Math.max(1, all / 2) && !background.isEmpty()) {
            start(background.remove(), true);
        } else {
            return false;
        }
        return true;
    }

    private void start(Supplier<? extends CompletionStage<?>> job, boolean isBackground) {
        limit.begin();
        watcher.begun(isBackground, isBackground ? background.size() : urgent.size() + ordinary.size());
        inBackground += isBackground ? 1 : 0;
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
            inBackground -= isBackground ? 1 : 0;
            drain();
        });
    }
}
