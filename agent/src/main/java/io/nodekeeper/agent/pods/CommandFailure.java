package io.nodekeeper.agent.pods;

import io.nodekeeper.api.Failures;
import java.util.concurrent.CompletableFuture;

/** A step of a command failed; the reason is the one that a container's status shows. */
final class CommandFailure extends RuntimeException {
    private final String reason;

    CommandFailure(String reason, String message) {
        super(message);
        this.reason = reason;
    }

    String reason() {
        return reason;
    }

    /** The same future; its error becomes a failure of {@code reason}, unless it has one. */
    static <T> CompletableFuture<T> failing(String reason, CompletableFuture<T> future) {
        return future.exceptionallyCompose(error -> {
            Throwable cause = Failures.cause(error);
            return CompletableFuture.failedFuture(
                    cause instanceof CommandFailure ? cause : new CommandFailure(reason, Failures.text(cause)));
        });
    }
}
