package io.nodekeeper.cri;

/**
 * The status of one container.
 *
 * @param startedAtNanos since 1970; 0 if it was not started
 * @param finishedAtNanos since 1970; 0 if it has not ended
 * @param exitCode meaningless unless it has ended
 */
public record ContainerStatus(
        String id,
        String name,
        ContainerState state,
        long startedAtNanos,
        long finishedAtNanos,
        int exitCode,
        String reason) {}
