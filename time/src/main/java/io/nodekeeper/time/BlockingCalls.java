package io.nodekeeper.time;

import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;

/** Runs what may block, such as work on files, beside the loops. {@link Workers} are threads for it. */
@FunctionalInterface
public interface BlockingCalls {
    /**
     * Runs {@code work}; the result completes on any thread, at the latest after {@code deadline}.
     *
     * @param what what it is, for messages
     */
    <T> CompletableFuture<T> call(String what, Duration deadline, Callable<T> work);
}
