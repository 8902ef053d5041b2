package io.nodekeeper.cri;

/**
 * The status of one container.
 *
 * @param startedAtNanos since 1970; 0 if it was not started
 * @param finishedAtNanos since 1970; 0 if it has not ended
 * @param exitCode meaningless unless it has ended
 * @param message the runtime's explanation of {@code reason}; often empty
 * @param origin what it was created from
 */
public record ContainerStatus(
        String id,
        String name,
        ContainerState state,
        long startedAtNanos,
        long finishedAtNanos,
        int exitCode,
        String reason,
        String message,
        ContainerOrigin origin) {

    /** A status without message and origin. */
    public ContainerStatus(
            String id,
            String name,
            ContainerState state,
            long startedAtNanos,
            long finishedAtNanos,
            int exitCode,
            String reason) {
        this(id, name, state, startedAtNanos, finishedAtNanos, exitCode, reason, "", ContainerOrigin.UNKNOWN);
    }
}
