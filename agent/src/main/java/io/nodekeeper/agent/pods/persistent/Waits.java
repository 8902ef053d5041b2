package io.nodekeeper.agent.pods.persistent;

import io.nodekeeper.time.Backoff;
import io.nodekeeper.time.Deadlines;
import io.nodekeeper.time.Loop;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/** Waits for what others do, by looking again and again. Confined to its loop. */
final class Waits {
    /** The kubelet's longest wait for an attachment. */
    static final Duration MOST = Duration.ofMinutes(2);
    /** After this time it is told that a step takes long. Drivers usually need some seconds at most. */
    static final Duration SLOW = Duration.ofSeconds(10);
    /** Between looks: soon at first, since attaching takes a second or so, and rarely while it takes long. */
    private static final Backoff PAUSE = new Backoff(Duration.ofMillis(100), Duration.ofSeconds(2));

    private final Loop loop;

    Waits(Loop loop) {
        this.loop = loop;
    }

    /**
     * Completes with what {@code look} finds.
     *
     * @param goesOn whether it is still wanted; asked before each look
     * @param late the error when it is not found in time, or no longer wanted
     */
    <T> CompletableFuture<T> until(
            BooleanSupplier goesOn, Supplier<CompletableFuture<Optional<T>>> look, Supplier<PersistentException> late) {
        return look(goesOn, look, late, loop.clock().nanoTime() + MOST.toNanos(), 0);
    }

    private <T> CompletableFuture<T> look(
            BooleanSupplier goesOn,
            Supplier<CompletableFuture<Optional<T>>> look,
            Supplier<PersistentException> late,
            long end,
            int looks) {
        return look.get().thenCompose(found -> {
            if (found.isPresent()) {
                return CompletableFuture.completedFuture(found.get());
            }
            if (!goesOn.getAsBoolean() || loop.clock().nanoTime() - end >= 0) {
                return CompletableFuture.failedFuture(late.get());
            }
            return Deadlines.sleep(loop, PAUSE.delay(looks))
                    .thenCompose(waited -> look(goesOn, look, late, end, looks + 1));
        });
    }

    /** The same future; {@code tell} is called if it takes long. */
    <T> CompletableFuture<T> watched(CompletableFuture<T> future, Runnable tell) {
        Loop.Timer timer = loop.schedule(SLOW, tell);
        return future.whenComplete((value, error) -> timer.cancel());
    }
}
