package io.nodekeeper.cri;

import java.util.Map;

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
        Origin origin) {

    /** A status without message and origin. */
    public ContainerStatus(
            String id,
            String name,
            ContainerState state,
            long startedAtNanos,
            long finishedAtNanos,
            int exitCode,
            String reason) {
        this(id, name, state, startedAtNanos, finishedAtNanos, exitCode, reason, "", Origin.UNKNOWN);
    }

    /**
     * What a container was created from. Immutable.
     *
     * @param attempt how many containers of that name the pod had before
     * @param createdAtNanos since 1970
     * @param image the name of its image
     * @param imageRef the reference of its image, with a digest if there is one
     */
    public record Origin(
            int attempt, long createdAtNanos, String image, String imageRef, Map<String, String> annotations) {
        /** The origin of a container of which the runtime tells none. */
        public static final Origin UNKNOWN = new Origin(0, 0, "", "", Map.of());

        /** Keeps a copy. */
        public Origin {
            annotations = Map.copyOf(annotations);
        }
    }
}
