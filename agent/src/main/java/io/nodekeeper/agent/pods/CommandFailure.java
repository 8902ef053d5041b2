package io.nodekeeper.agent.pods;

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
}
