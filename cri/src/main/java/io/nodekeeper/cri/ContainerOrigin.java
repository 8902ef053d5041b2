package io.nodekeeper.cri;

import java.util.Map;

/**
 * What a container was created from. Immutable.
 *
 * @param attempt how many containers of that name the pod had before
 * @param createdAtNanos since 1970
 * @param image the name of its image
 * @param imageRef the reference of its image, with a digest if there is one
 */
public record ContainerOrigin(
        int attempt, long createdAtNanos, String image, String imageRef, Map<String, String> annotations) {
    /** The origin of a container of which the runtime does not tell any. */
    public static final ContainerOrigin UNKNOWN = new ContainerOrigin(0, 0, "", "", Map.of());

    /** Keeps a copy. */
    public ContainerOrigin {
        annotations = Map.copyOf(annotations);
    }
}
