package io.nodekeeper.agent.pleg;

import io.nodekeeper.api.Failures;
import io.nodekeeper.cri.ContainerRuntime;
import io.nodekeeper.cri.RuntimeCall;
import io.nodekeeper.time.Futures;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * Calls that are sent together, each with the same deadline. The first error fails the group and cancels the other calls. Confined
 * to the loop of its runtime.
 */
final class CallGroup {
    /**
     * The most calls about objects at the same time; most pods have fewer objects. A pod may have more containers that ended than
     * the runtime's client makes calls (2,240), and 110 inspections that are all late leave room for other calls.
     */
    private static final int AT_ONCE = 16;

    private final ContainerRuntime runtime;
    private final Duration deadline;
    private final List<CompletableFuture<?>> sent = new ArrayList<>();
    /** Send calls when earlier ones are answered. */
    private final Queue<Runnable> waiting = new ArrayDeque<>();

    private final List<CompletableFuture<?>> answers = new ArrayList<>();
    private final CompletableFuture<Void> failure = new CompletableFuture<>();
    private @Nullable RuntimeCall<?> culprit;
    private int underWay;
    private boolean proceeding;

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

    /**
     * Sends {@code call}, whose object may no longer exist: then there is no answer and no error. Beyond {@link #AT_ONCE} such calls it
     * waits until an earlier one is answered.
     */
    <T> CompletableFuture<Optional<T>> sendIfThere(RuntimeCall<T> call) {
        CompletableFuture<T> answer = new CompletableFuture<>();
        waiting.add(() -> sendNow(call, answer));
        CompletableFuture<Optional<T>> found = counted(call, CallErrors.unlessNotFound(answer));
        proceed();
        return found;
    }

    private <T> void sendNow(RuntimeCall<T> call, CompletableFuture<T> answer) {
        underWay++;
        CompletableFuture<T> own = Futures.start(() -> runtime.call(call, deadline));
        sent.add(own);
        own.whenComplete((value, error) -> {
            underWay--;
            Futures.complete(answer, value, error);
            proceed();
        });
    }

    /** Not one call within another: a runtime that answers at once would nest thousands. */
    private void proceed() {
        if (proceeding) {
            return;
        }
        proceeding = true;
        while (!failure.isDone() && underWay < AT_ONCE && !waiting.isEmpty()) {
            waiting.remove().run();
        }
        proceeding = false;
    }

    /** Completes when all calls are answered, or fails with the first error. */
    CompletableFuture<Void> all() {
        CompletableFuture<Void> answered = CompletableFuture.allOf(answers.toArray(CompletableFuture[]::new));
        answered.thenRun(() -> failure.complete(null));
        return failure;
    }

    /** The call that failed first. */
    Optional<RuntimeCall<?>> culprit() {
        return Optional.ofNullable(culprit);
    }

    /** Cancels the calls in progress and those that wait; {@link #all} fails. */
    void cancel() {
        failure.cancel(true);
        waiting.clear();
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
