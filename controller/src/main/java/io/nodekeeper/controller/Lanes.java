package io.nodekeeper.controller;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Lets a limited number of jobs be under way at once; the rest waits, and urgent ones overtake. Confined to the loop, on
 * which the jobs' results have to come.
 */
final class Lanes {
    private static final Logger log = LoggerFactory.getLogger(Lanes.class);

    private final int limit;
    private final Deque<Supplier<? extends CompletionStage<?>>> urgent = new ArrayDeque<>();
    private final Deque<Supplier<? extends CompletionStage<?>>> ordinary = new ArrayDeque<>();
    private int underWay;
    private boolean draining;
    private boolean closed;

    Lanes(int limit) {
        this.limit = limit;
    }

    /** Runs {@code job} before all that is not urgent. */
    void urgent(Supplier<? extends CompletionStage<?>> job) {
        urgent.add(job);
        drain();
    }

    /** Runs {@code job} when nothing urgent waits. */
    void ordinary(Supplier<? extends CompletionStage<?>> job) {
        ordinary.add(job);
        drain();
    }

    /** Drops what waits and takes no more. */
    void close() {
        closed = true;
        urgent.clear();
        ordinary.clear();
    }

    /** Whether nothing more is to be done. */
    boolean isClosed() {
        return closed;
    }

    private void drain() {
        // Jobs that end at once come back here; the loop below goes on for them, not the stack.
        if (draining) {
            return;
        }
        draining = true;
        while (!closed && underWay < limit) {
            Supplier<? extends CompletionStage<?>> job = urgent.isEmpty() ? ordinary.poll() : urgent.poll();
            if (job == null) {
                break;
            }
            underWay++;
            start(job);
        }
        draining = false;
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
