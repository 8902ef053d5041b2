package io.nodekeeper.agent.culprit;

import io.nodekeeper.cri.ContainerEvent;
import io.nodekeeper.cri.ContainerRuntime;
import io.nodekeeper.cri.RuntimeCall;
import io.nodekeeper.time.Deadlines;
import io.nodekeeper.time.Loop;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * Answers as another runtime does, each call after a delay that the test chooses; without a delay never. Confined to its
 * loop.
 */
record DelayedRuntime(ContainerRuntime runtime, Loop loop, Function<RuntimeCall<?>, Optional<Duration>> delay)
        implements ContainerRuntime {
    @Override
    public <T> CompletableFuture<T> call(RuntimeCall<T> call, Duration deadline) {
        CompletableFuture<T> answer = new CompletableFuture<>();
        delay.apply(call)
                .ifPresent(by -> loop.schedule(
                        by,
                        () -> runtime.call(call, deadline).whenComplete((value, error) -> {
                            if (error == null) {
                                answer.complete(value);
                            } else {
                                answer.completeExceptionally(error);
                            }
                        })));
        return Deadlines.within(loop, deadline, call.method(), answer);
    }

    @Override
    public CompletableFuture<Void> events(Consumer<ContainerEvent> consumer) {
        return runtime.events(consumer);
    }
}
