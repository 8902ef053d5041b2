package io.nodekeeper.store.etcd;

import io.nodekeeper.time.Clock;
import io.nodekeeper.time.Loop;
import io.nodekeeper.time.ThreadLoop;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/** A real loop whose clock can be set ahead, so that tests need not wait for the age limit of the history. */
final class ShiftedLoop implements Loop, Clock {
    private final ThreadLoop loop = new ThreadLoop("store");
    private volatile long ahead;
    private volatile boolean withoutTimers;

    void shift(Duration by) {
        ahead += by.toNanos();
    }

    /** Timers that are set from now on never run. So what happens then did not wait for one. */
    void stopTimers() {
        withoutTimers = true;
    }

    /** Waits until the loop has run all tasks submitted so far. */
    void settle() throws Exception {
        CompletableFuture<Void> done = new CompletableFuture<>();
        loop.execute(() -> done.complete(null));
        done.get(10, TimeUnit.SECONDS);
    }

    @Override
    public Clock clock() {
        return this;
    }

    @Override
    public long nanoTime() {
        return loop.clock().nanoTime() + ahead;
    }

    @Override
    public Instant wallTime() {
        return loop.clock().wallTime().plusNanos(ahead);
    }

    @Override
    public void execute(Runnable task) {
        loop.execute(task);
    }

    @Override
    public Timer schedule(Duration delay, Runnable task) {
        return withoutTimers ? () -> {} : loop.schedule(delay, task);
    }

    @Override
    public void close() {
        loop.close();
    }
}
