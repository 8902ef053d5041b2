package io.nodekeeper.agent.pleg;

import io.nodekeeper.client.Failures;
import io.nodekeeper.cri.RuntimeCallException;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/** What the errors of calls mean to an inspection. */
final class CallErrors {
    private CallErrors() {}

    /** Whether the answer did not come in time. */
    static boolean isTimeout(Throwable error) {
        return RuntimeCallException.isTimeout(Failures.cause(error));
    }

    /** The answer; empty if what the call is about is gone. */
    static <T> CompletableFuture<Optional<T>> unlessNotFound(CompletableFuture<T> answer) {
        return answer.thenApply(Optional::of).exceptionallyCompose(error -> {
            boolean gone = Failures.cause(error) instanceof RuntimeCallException refused
                    && refused.code() == RuntimeCallException.Code.NOT_FOUND;
            return gone ? CompletableFuture.completedFuture(Optional.empty()) : CompletableFuture.failedFuture(error);
        });
    }
}
