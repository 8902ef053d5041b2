package io.nodekeeper.agent.pods;

import io.nodekeeper.api.Failures;
import java.util.concurrent.CompletableFuture;

/** A step of a command failed; the reason is the one that a container's status shows. */
final class CommandFailure extends RuntimeException {
    /** The reason of what was not begun, because its pod must end: there is nothing to report, and nothing to undo. */
    static final String ABANDONED = "Abandoned";

    private final String reason;

    CommandFailure(String reason, String message) {
        super(message);
        this.reason = reason;
    }

    /** Something was not begun, because its pod must end. */
    static CommandFailure abandoned() {
        return new CommandFailure(ABANDONED, "the pod must end");
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
