package io.nodekeeper.client;

import io.nodekeeper.api.Failures;
import java.util.ArrayDeque;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;

/**
 * Lets a bounded number of calls go at once; the others wait for their turn in order. HTTP/1.1 needs a connection for each
 * call under way, and thousands of TLS handshakes at once take longer than the calls. Thread-safe.
 */
final class Turnstile {
    private record Waiting<T>(Supplier<CompletableFuture<T>> call, CompletableFuture<T> result) {}

    private final int limit;
    private final ArrayDeque<Waiting<?>> waiting = new ArrayDeque<>();
    private int underWay;

    /** Lets {@code limit} calls go at once, 1 or more. */
    Turnstile(int limit) {
        this.limit = limit;
    }

    /** Makes {@code call} when its turn comes; a result that is cancelled before is not called for any more. */
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
        CompletableFuture<T> call = next.call.get();
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
