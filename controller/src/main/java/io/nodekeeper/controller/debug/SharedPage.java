package io.nodekeeper.controller.debug;

import io.nodekeeper.client.pages.Page;
import io.nodekeeper.time.Clock;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;

/**
 * A page about the whole fleet, which is much work for the controller's loop: it is made once at a time and at most once
 * a second, however many ask. Thread-safe.
 */
final class SharedPage {
    private static final long FRESH = Duration.ofSeconds(1).toNanos();

    private final Supplier<CompletableFuture<Page>> make;
    private final Clock clock;
    private CompletableFuture<Page> last = CompletableFuture.failedFuture(new IllegalStateException("not made yet"));
    private long madeAt;

    /** {@code make} starts to make the page, which must end. */
    SharedPage(Supplier<CompletableFuture<Page>> make, Clock clock) {
        this.make = make;
        this.clock = clock;
    }

    /** The page: the one that is being made, the last one if it is at most a second old, or a new one. */
    synchronized CompletableFuture<Page> get() {
        boolean made = last.isDone();
        if (made && (last.isCompletedExceptionally() || clock.nanoTime() - madeAt > FRESH)) {
            last = make.get().whenComplete((page, error) -> made());
        }
        return last.copy();
    }

    private synchronized void made() {
        madeAt = clock.nanoTime();
    }
}
