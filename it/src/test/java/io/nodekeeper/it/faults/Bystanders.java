package io.nodekeeper.it.faults;

import io.nodekeeper.it.Pods;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;

/** Healthy pods that are busy: in each a command runs all the time, as probes do. Thread-safe. */
final class Bystanders implements AutoCloseable {
    private static final long PAUSE_MILLIS = 200;

    private final Pods pods;
    private final Queue<CompletableFuture<Integer>> running = new ConcurrentLinkedQueue<>();
    private volatile boolean closed;

    Bystanders(Pods pods, List<Pods.RealPod> busy) {
        this.pods = pods;
        busy.forEach(this::next);
    }

    private void next(Pods.RealPod pod) {
        if (closed) {
            return;
        }
        running.removeIf(CompletableFuture::isDone);
        CompletableFuture<Integer> exec = pods.exec(pod, "/bin/sleep", "0.3");
        running.add(exec);
        // The pause keeps a runtime that refuses from being asked without end.
        exec.whenCompleteAsync(
                (code, error) -> next(pod), CompletableFuture.delayedExecutor(PAUSE_MILLIS, TimeUnit.MILLISECONDS));
    }

    /** Whether one of the commands has not ended. */
    boolean waits() {
        return running.stream().anyMatch(exec -> !exec.isDone());
    }

    /** Starts no more; those that run may still end. */
    @Override
    public void close() {
        closed = true;
    }
}
