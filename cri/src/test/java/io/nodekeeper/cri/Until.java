package io.nodekeeper.cri;

import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/** Waits in real time, thirty seconds at most. */
public final class Until {
    private Until() {}

    public static void holds(String what, BooleanSupplier condition) throws InterruptedException {
        for (int i = 0; i < 3000; i++) {
            if (condition.getAsBoolean()) {
                return;
            }
            Thread.sleep(10);
        }
        throw new AssertionError("not within 30 s: " + what);
    }

    public static <T> T done(CompletableFuture<T> future) throws Exception {
        return future.get(30, TimeUnit.SECONDS);
    }

    /** What it fails with. */
    public static Throwable failed(CompletableFuture<?> future) throws Exception {
        try {
            Object value = future.get(30, TimeUnit.SECONDS);
            throw new AssertionError("a failure was expected, got " + value);
        } catch (ExecutionException e) {
            return Objects.requireNonNull(e.getCause());
        }
    }
}
