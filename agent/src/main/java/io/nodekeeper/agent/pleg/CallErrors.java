package io.nodekeeper.agent.pleg;

import io.nodekeeper.cri.RuntimeCallException;
import io.nodekeeper.time.DeadlineExceededException;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;

/** What the errors of calls mean to an inspection. */
final class CallErrors {
    private CallErrors() {}

    static Throwable cause(Throwable error) {
        return error instanceof CompletionException wrapped && wrapped.getCause() != null ? wrapped.getCause() : error;
    }

    /** Whether the answer did not come in time, be it that we or that the runtime gave up waiting. */
    static boolean isTimeout(Throwable error) {
        Throwable cause = cause(error);
        return cause instanceof DeadlineExceededException
                || (cause instanceof RuntimeCallException refused
                        && refused.code() == RuntimeCallException.Code.DEADLINE_EXCEEDED);
    }

    /** The answer; empty if what the call is about is gone. */
    static <T> CompletableFuture<Optional<T>> unlessNotFound(CompletableFuture<T> answer) {
        return answer.thenApply(Optional::of).exceptionallyCompose(error -> {
            boolean gone = cause(error) instanceof RuntimeCallException refused
                    && refused.code() == RuntimeCallException.Code.NOT_FOUND;
            return gone ? CompletableFuture.completedFuture(Optional.empty()) : CompletableFuture.failedFuture(error);
        });
    }
}
