package io.nodekeeper.agent.pods;

import io.nodekeeper.time.BlockingCalls;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Runs what may block on volumes of pods, at most one call of each owner at a time. A call that hangs keeps its thread after its
 * deadline; until it ends, further calls of that owner fail at once, so an owner never holds more than one thread. Thread-safe.
 */
final class HostDisk {
    private final BlockingCalls disk;
    /** The owners with a call: at most two for each pod, its volumes and their removal. */
    private final Set<String> busy = ConcurrentHashMap.newKeySet();

    /** Runs calls on {@code disk}, which must have a thread for each pod. */
    HostDisk(BlockingCalls disk) {
        this.disk = disk;
    }

    /** Runs {@code work} of {@code owner}; as {@link BlockingCalls#call}. */
    <T> CompletableFuture<T> call(String owner, String what, Duration deadline, Callable<T> work) {
        if (!busy.add(owner)) {
            return CompletableFuture.failedFuture(new IllegalStateException(what + ": an earlier call has not ended"));
        }
        AtomicBoolean begun = new AtomicBoolean();
        return disk.call(what, deadline, () -> {
                    if (!begun.compareAndSet(false, true)) {
                        throw new IllegalStateException(what + ": given up before it began");
                    }
                    try {
                        return work.call();
                    } finally {
                        busy.remove(owner);
                    }
                })
                .whenComplete((value, error) -> {
                    // Work that never began does not end either.
                    if (begun.compareAndSet(false, true)) {
                        busy.remove(owner);
                    }
                });
    }
}
