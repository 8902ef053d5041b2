package io.nodekeeper.agent.pleg;

import io.nodekeeper.api.Failures;
import io.nodekeeper.cri.RuntimeCallException;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/** Classifies the errors of calls for an inspection. */
final class CallErrors {
    private CallErrors() {}

    /** Whether the call timed out. */
    static boolean isTimeout(Throwable error) {
        return RuntimeCallException.isTimeout(Failures.cause(error));
    }

    /** The answer; empty if the object of the call no longer exists. */
    static <T> CompletableFuture<Optional<T>> unlessNotFound(CompletableFuture<T> answer) {
        return answer.thenApply(Optional::of).exceptionallyCompose(error -> {
            boolean gone = RuntimeCallException.isCode(Failures.cause(error), RuntimeCallException.Code.NOT_FOUND);
            return gone ? CompletableFuture.completedFuture(Optional.empty()) : CompletableFuture.failedFuture(error);
        });
    }
}
