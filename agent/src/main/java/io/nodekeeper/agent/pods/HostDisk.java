package io.nodekeeper.agent.pods;

import io.nodekeeper.time.BlockingCalls;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Runs what may block on the host's volumes of pods, at most one call of each pod at a time. A call that hangs keeps its thread
 * after its deadline; until it ends, further calls of that pod fail at once, so a pod never holds more than one thread.
 * Thread-safe.
 */
final class HostDisk {
    private final BlockingCalls disk;
    /** The UIDs of the pods with a call; as many as there are pods. */
    private final Set<String> busy = ConcurrentHashMap.newKeySet();

    /** Runs calls on {@code disk}, which must have a thread for each pod. */
    HostDisk(BlockingCalls disk) {
        this.disk = disk;
    }

    /** Runs {@code work} of the pod {@code uid}; as {@link BlockingCalls#call}. */
    <T> CompletableFuture<T> call(String uid, String what, Duration deadline, Callable<T> work) {
        if (!busy.add(uid)) {
            return CompletableFuture.failedFuture(
                    new IllegalStateException(what + ": an earlier call still waits for a path of the host"));
        }
        AtomicBoolean begun = new AtomicBoolean();
        return disk.call(what, deadline, () -> {
                    if (!begun.compareAndSet(false, true)) {
                        throw new IllegalStateException(what + ": given up before it began");
                    }
                    try {
                        return work.call();
                    } finally {
                        busy.remove(uid);
                    }
                })
                .whenComplete((value, error) -> {
                    // Work that never began does not end either.
                    if (begun.compareAndSet(false, true)) {
                        busy.remove(uid);
                    }
                });
    }
}
