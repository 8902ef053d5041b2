package io.nodekeeper.time;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;

/** Waits for results where a thread may block. */
public final class Futures {
    private Futures() {}

    /**
     * Waits for the result of {@code future}. An unchecked exception with which it failed is thrown as it is, without the
     * {@link CompletionException} around it.
     *
     * @throws CompletionException if the failure is not an unchecked exception
     */
    public static <T> T join(CompletableFuture<T> future) {
        try {
            return future.join();
        } catch (CompletionException e) {
            throw e.getCause() instanceof RuntimeException cause ? cause : e;
        }
    }
}
