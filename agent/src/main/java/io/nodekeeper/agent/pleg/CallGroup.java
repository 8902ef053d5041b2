package io.nodekeeper.agent.pleg;

import io.nodekeeper.api.Failures;
import io.nodekeeper.cri.ContainerRuntime;
import io.nodekeeper.cri.RuntimeCall;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * Calls that are sent together under one deadline. The first error fails the group and cancels the other calls.
 */
final class CallGroup {
    private final ContainerRuntime runtime;
    private final Duration deadline;
    private final List<CompletableFuture<?>> sent = new ArrayList<>();
    private final List<CompletableFuture<?>> answers = new ArrayList<>();
    private final CompletableFuture<Void> failure = new CompletableFuture<>();
    private @Nullable RuntimeCall<?> culprit;

    CallGroup(ContainerRuntime runtime, Duration deadline) {
        this.runtime = runtime;
        this.deadline = deadline;
    }

    /** Sends {@code call}. */
    <T> CompletableFuture<T> send(RuntimeCall<T> call) {
        CompletableFuture<T> answer = runtime.call(call, deadline);
        sent.add(answer);
        return counted(call, answer);
    }

    /** Sends {@code call}, whose object may no longer exist: then there is no answer and no error. */
    <T> CompletableFuture<Optional<T>> sendIfThere(RuntimeCall<T> call) {
        CompletableFuture<T> answer = runtime.call(call, deadline);
        sent.add(answer);
        return counted(call, CallErrors.unlessNotFound(answer));
    }

    /** Completes when all calls sent so far are answered, or fails with the first error. */
    CompletableFuture<Void> all() {
        CompletableFuture<Void> answered = CompletableFuture.allOf(answers.toArray(CompletableFuture[]::new));
        answered.thenRun(() -> failure.complete(null));
        return failure;
    }

    /** The call that failed first. */
    Optional<RuntimeCall<?>> culprit() {
        return Optional.ofNullable(culprit);
    }

    /** Cancels the calls in progress; {@link #all} fails. */
    void cancel() {
        failure.cancel(true);
        List.copyOf(sent).forEach(call -> call.cancel(true));
    }

    private <T> CompletableFuture<T> counted(RuntimeCall<?> call, CompletableFuture<T> answer) {
        answers.add(answer);
        answer.whenComplete((value, error) -> {
            if (error != null && !failure.isDone()) {
                culprit = call;
                failure.completeExceptionally(Failures.cause(error));
                cancel();
            }
        });
        return answer;
    }
}
