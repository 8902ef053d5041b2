package io.nodekeeper.agent.pods;

import io.nodekeeper.time.BlockingCalls;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;

/**
 * Runs what may block on volumes of pods, at most one call of each owner at a time. A call that hangs keeps its thread after its
 * deadline; until it ends, further calls of that owner fail at once, so an owner never holds more than one thread. Pods come and
 * go, so they ask first whether a place answers: if it hangs, one thread waits there for all of them. Thread-safe.
 */
final class HostDisk {
    private final BlockingCalls disk;
    private final int most;
    /** The owners with a call: at most two for each pod, its volumes and their removal, and the places that are asked. */
    private final Set<String> busy = ConcurrentHashMap.newKeySet();
    /** Questions under way, by place. */
    private final ConcurrentMap<String, CompletableFuture<Boolean>> asked = new ConcurrentHashMap<>();
    /** How many calls hang beyond their deadlines. */
    private final AtomicInteger hanging = new AtomicInteger();

    private enum State {
        WAITS,
        RUNS,
        HANGS,
        ENDED
    }

    /**
     * Runs calls on {@code disk}, which must have two threads for each pod besides {@code most}.
     *
     * @param most calls that hang beyond their deadlines until no further one begins, but removals
     */
    HostDisk(BlockingCalls disk, int most) {
        this.disk = disk;
        this.most = most;
    }

    /** Runs {@code work} of {@code owner}; as {@link BlockingCalls#call}. Fails at once if too many calls hang. */
    <T> CompletableFuture<T> call(String owner, String what, Duration deadline, Callable<T> work) {
        int hang = hanging.get();
        if (hang >= most) {
            return CompletableFuture.failedFuture(new IllegalStateException(
                    what + ": not begun, because " + hang + " calls hang on paths of the host or volumes"));
        }
        return removal(owner, what, deadline, work);
    }

    /** As {@link #call}, for work that frees something and so begins however many other calls hang. */
    <T> CompletableFuture<T> removal(String owner, String what, Duration deadline, Callable<T> work) {
        if (!busy.add(owner)) {
            return CompletableFuture.failedFuture(new IllegalStateException(what + ": an earlier call has not ended"));
        }
        try {
            return begin(owner, what, deadline, work);
        } catch (RuntimeException | Error e) {
            busy.remove(owner);
            throw e;
        }
    }

    private <T> CompletableFuture<T> begin(String owner, String what, Duration deadline, Callable<T> work) {
        AtomicReference<State> state = new AtomicReference<>(State.WAITS);
        return disk.call(what, deadline, () -> {
                    if (!state.compareAndSet(State.WAITS, State.RUNS)) {
                        throw new IllegalStateException(what + ": given up before it began");
                    }
                    try {
                        return work.call();
                    } finally {
                        if (state.getAndSet(State.ENDED) == State.HANGS) {
                            hanging.decrementAndGet();
                        }
                        busy.remove(owner);
                    }
                })
                .whenComplete((value, error) -> {
                    if (state.compareAndSet(State.WAITS, State.ENDED)) {
                        // Work that never began does not end either.
                        busy.remove(owner);
                    } else if (state.compareAndSet(State.RUNS, State.HANGS)) {
                        hanging.incrementAndGet();
                    }
                });
    }

    /**
     * Completes with what {@code look} finds at a place. All that ask about it at the same time share one call; while one hangs
     * beyond its deadline, further questions about that place fail at once.
     *
     * @param place its name, for messages; the same for all that ask about it
     */
    CompletableFuture<Boolean> ask(String place, Duration deadline, Callable<Boolean> look) {
        CompletableFuture<Boolean> before = asked.get(place);
        if (before != null) {
            return before;
        }
        CompletableFuture<Boolean> question = call("place " + place, place, deadline, look);
        asked.put(place, question);
        question.whenComplete((found, error) -> asked.remove(place, question));
        return question;
    }
}
