package io.nodekeeper.client;

import io.nodekeeper.api.Failures;
import io.nodekeeper.time.Futures;
import java.util.ArrayDeque;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;

/**
 * Limits the number of concurrent calls; the others wait in order. HTTP/1.1 needs a connection for each running call,
 * and thousands of concurrent TLS handshakes take longer than the calls. Thread-safe.
 */
final class InFlightLimiter {
    private record Waiting<T>(Supplier<CompletableFuture<T>> call, CompletableFuture<T> result) {}

    private final int limit;
    private final ArrayDeque<Waiting<?>> waiting = new ArrayDeque<>();
    private int underWay;

    /** Allows {@code limit} concurrent calls, 1 or more. */
    InFlightLimiter(int limit) {
        this.limit = limit;
    }

    /** Makes {@code call} when it is its turn; if the result is cancelled before, the call is not made. */
    <T> CompletableFuture<T> pass(Supplier<CompletableFuture<T>> call) {
        CompletableFuture<T> result = new CompletableFuture<>();
        Waiting<T> next = new Waiting<>(call, result);
        synchronized (this) {
            if (underWay >= limit) {
                waiting.add(next);
                return result;
            }
            underWay++;
        }
        go(next);
        return result;
    }

    private <T> void go(Waiting<T> next) {
        // A call that cannot be made fails: else it would keep its place.
        CompletableFuture<T> call = Futures.start(next.call);
        next.result.whenComplete((value, error) -> {
            if (next.result.isCancelled()) {
                call.cancel(true);
            }
        });
        call.whenComplete((value, error) -> {
            leave();
            if (error != null) {
                next.result.completeExceptionally(Failures.cause(error));
            } else {
                next.result.complete(value);
            }
        });
    }

    private void leave() {
        Waiting<?> next;
        synchronized (this) {
            do {
                next = waiting.poll();
            } while (next != null && next.result.isDone());
            if (next == null) {
                underWay--;
                return;
            }
        }
        go(next);
    }
}
