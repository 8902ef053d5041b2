package io.nodekeeper.client;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Lets a limited number of jobs be under way at once; the rest waits, and urgent ones overtake. Confined to the loop, on
 * which the jobs' results have to come.
 */
public final class Lanes {
    private static final Logger log = LoggerFactory.getLogger(Lanes.class);

    private final int limit;
    private final Deque<Supplier<? extends CompletionStage<?>>> urgent = new ArrayDeque<>();
    private final Deque<Supplier<? extends CompletionStage<?>>> ordinary = new ArrayDeque<>();
    private final Deque<Supplier<? extends CompletionStage<?>>> background = new ArrayDeque<>();
    private int underWay;
    private boolean draining;
    private boolean closed;

    /** Lanes on which {@code limit} jobs may be under way together. */
    public Lanes(int limit) {
        this.limit = limit;
    }

    /** Runs {@code job} before all that is not urgent. */
    public void urgent(Supplier<? extends CompletionStage<?>> job) {
        urgent.add(job);
        drain();
    }

    /** Runs {@code job} when nothing urgent waits. */
    public void ordinary(Supplier<? extends CompletionStage<?>> job) {
        ordinary.add(job);
        drain();
    }

    /** Runs {@code job} when nothing else waits. */
    public void background(Supplier<? extends CompletionStage<?>> job) {
        background.add(job);
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
        while (!closed && underWay < limit) {
            Supplier<? extends CompletionStage<?>> job = next();
            if (job == null) {
                break;
            }
            underWay++;
            start(job);
        }
        draining = false;
    }

    private @Nullable Supplier<? extends CompletionStage<?>> next() {
        if (!urgent.isEmpty()) {
            return urgent.poll();
        }
        return ordinary.isEmpty() ? background.poll() : ordinary.poll();
    }

    private void start(Supplier<? extends CompletionStage<?>> job) {
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
            underWay--;
            drain();
        });
    }
}
