package io.nodekeeper.agent.pods.turns;

import io.nodekeeper.time.Futures;
import io.nodekeeper.time.Loop;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.EnumMap;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;

/**
 * Lets only a few calls that start something run in the runtime at once; the others wait in their order. These calls are bound by
 * processors, so all at once finish all late, and one after another finish half of them in half of the time (decision 155). Containers come before
 * sandboxes, so pods that have begun finish first. A call that takes longer than {@link #PATIENCE} goes on and no longer counts, so a
 * call that hangs delays others by that time at most. Confined to its loop.
 */
public final class StartTurns {
    /** How long a call counts. Measured: 0.1 s for a call when the machine does nothing else, and up to 1.5 s on a busy one. */
    static final Duration PATIENCE = Duration.ofSeconds(2);

    /** The fewest at once: calls also wait for the disk and for locks of the network. */
    private static final int LEAST = 4;

    private final Loop loop;
    private final int most;
    /** As many as there are pods: each waits for one call. */
    private final Map<Kind, Deque<Turn<?>>> waiting = new EnumMap<>(Kind.class);

    private int running;

    /** How many calls at once keep so many processors busy. */
    public static int most(int processors) {
        return Math.max(LEAST, 2 * processors);
    }

    /** What is started. The first kind goes first. */
    public enum Kind {
        /** A container in a sandbox that runs. */
        CONTAINER,
        /** The sandbox of a pod. */
        SANDBOX
    }

    /** Turns for {@code most} calls at once. */
    public StartTurns(Loop loop, int most) {
        this.loop = loop;
        this.most = most;
        for (Kind kind : Kind.values()) {
            waiting.put(kind, new ArrayDeque<>());
        }
    }

    /** A call that waits for its turn, or has had it. */
    public final class Turn<T> {
        private final Supplier<CompletableFuture<T>> call;
        private final CompletableFuture<T> answer = new CompletableFuture<>();
        private Loop.Timer timer;
        private boolean counts;

        private Turn(Supplier<CompletableFuture<T>> call) {
            this.call = call;
            this.timer = () -> {};
        }

        /** The answer of the call. */
        public CompletableFuture<T> answer() {
            return answer;
        }

        /** Fails with {@code error} if it still waits; a call that has begun goes on. */
        public void abandon(Throwable error) {
            if (waiting.values().stream().anyMatch(turns -> turns.remove(this))) {
                answer.completeExceptionally(error);
            }
        }

        private void begin() {
            counts = true;
            running++;
            timer = loop.schedule(PATIENCE, this::end);
            Futures.start(call).whenComplete((value, error) -> {
                end();
                Futures.complete(answer, value, error);
            });
        }

        private void end() {
            timer.cancel();
            if (counts) {
                counts = false;
                running--;
                next();
            }
        }
    }

    /** Makes {@code call} when it is its turn. */
    public <T> Turn<T> take(Kind kind, Supplier<CompletableFuture<T>> call) {
        Turn<T> turn = new Turn<>(call);
        Objects.requireNonNull(waiting.get(kind)).add(turn);
        next();
        return turn;
    }

    private void next() {
        while (running < most) {
            Optional<Turn<?>> first = waiting.values().stream()
                    .filter(turns -> !turns.isEmpty())
                    .findFirst()
                    .map(Deque::remove);
            if (first.isEmpty()) {
                return;
            }
            first.get().begin();
        }
    }
}
