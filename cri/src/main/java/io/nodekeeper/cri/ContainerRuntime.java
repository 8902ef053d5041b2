package io.nodekeeper.cri;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

/**
 * A container runtime that speaks CRI ({@code runtime.v1}). Implementations are thread-safe; results come on the loop that
 * the implementation was made with, whatever thread asked.
 */
public interface ContainerRuntime {

    /**
     * Sends {@code call}. The result fails with {@link io.nodekeeper.time.DeadlineExceededException} once {@code deadline}
     * has passed, and with {@link RuntimeCallException} if the runtime refuses or cannot be reached. Either way the call is
     * taken back from the runtime, as it is when the result is cancelled.
     */
    <T> CompletableFuture<T> call(RuntimeCall<T> call, Duration deadline);

    /**
     * Listens to what happens to containers: hints only, which may be late, repeated or lost. {@code listener} runs on the
     * loop. The future completes, normally or not, when the stream has ended; cancelling it ends the stream. It fails with
     * {@link RuntimeCallException} of code {@code UNIMPLEMENTED} if the runtime has no such stream.
     */
    CompletableFuture<Void> events(Consumer<ContainerEvent> listener);
}
