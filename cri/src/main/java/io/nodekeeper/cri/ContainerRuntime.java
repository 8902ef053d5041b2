package io.nodekeeper.cri;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

/**
 * A container runtime that speaks CRI ({@code runtime.v1}). Implementations are thread-safe; results arrive on the loop that
 * the implementation was created with, whatever thread called.
 */
public interface ContainerRuntime {

    /**
     * Sends {@code call}. The result fails with {@link io.nodekeeper.time.DeadlineExceededException} once {@code deadline}
     * has passed, and with {@link RuntimeCallException} if the runtime refuses the call or cannot be reached. After the
     * deadline, or when the result is cancelled, the call is also cancelled at the runtime.
     */
    <T> CompletableFuture<T> call(RuntimeCall<T> call, Duration deadline);

    /**
     * Subscribes to events about containers. They are hints only: they may be late, repeated or lost. {@code listener}
     * runs on the loop. The future completes, normally or not, when the stream has ended; cancelling it ends the
     * stream. It fails with {@link RuntimeCallException} of code {@code UNIMPLEMENTED} if the runtime has no such
     * stream.
     */
    CompletableFuture<Void> events(Consumer<ContainerEvent> listener);
}
