package io.nodekeeper.store.etcd;

import io.grpc.Status;
import java.util.Objects;
import java.util.concurrent.CompletionException;

/** A gRPC call to a member failed. */
final class CallFailure extends RuntimeException {
    private final transient Status status;
    private final boolean sent;

    /** A call to {@code member}; {@code sent} says whether the member may have received it. */
    CallFailure(String member, Status status, boolean sent) {
        super(
                member + ": " + status.getCode()
                        + (status.getDescription() == null ? "" : " " + status.getDescription()),
                status.getCause());
        this.status = status;
        this.sent = sent;
    }

    /** The failure that {@code error} is or wraps. */
    static CallFailure of(Throwable error) {
        Throwable cause = error instanceof CompletionException && error.getCause() != null ? error.getCause() : error;
        return cause instanceof CallFailure failure
                ? failure
                : new CallFailure(
                        "etcd",
                        Status.INTERNAL.withDescription(cause.toString()).withCause(cause),
                        true);
    }

    /** Whether the member may have received the request. */
    boolean sent() {
        return sent;
    }

    /** Whether the request certainly changed nothing. */
    boolean harmless() {
        return !sent
                || switch (status.getCode()) {
                    case INVALID_ARGUMENT, OUT_OF_RANGE, RESOURCE_EXHAUSTED, PERMISSION_DENIED, UNAUTHENTICATED -> true;
                    default -> false;
                };
    }

    /** Whether another member may succeed. */
    boolean membersFault() {
        return !sent
                || switch (status.getCode()) {
                    case DEADLINE_EXCEEDED, UNAVAILABLE, CANCELLED, INTERNAL, UNKNOWN -> true;
                    default -> false;
                };
    }

    /** Whether etcd has reached its space quota. */
    boolean full() {
        // Too many requests have the same code.
        return status.getCode() == Status.Code.RESOURCE_EXHAUSTED
                && String.valueOf(status.getDescription()).contains("database space exceeded");
    }

    /** Whether the requested revision was compacted. */
    boolean compacted() {
        return status.getCode() == Status.Code.OUT_OF_RANGE
                && String.valueOf(status.getDescription()).contains("compacted");
    }

    /** The failure as text for logs. */
    String why() {
        return Objects.requireNonNull(getMessage());
    }
}
