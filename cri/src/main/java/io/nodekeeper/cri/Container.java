package io.nodekeeper.cri;

import java.util.Set;

/**
 * A container, as a list shows it.
 *
 * @param podUid from its label {@code io.kubernetes.pod.uid}; empty if it has none
 * @param images the names and ids by which the runtime shows its image; empty if it shows none
 */
public record Container(
        String id,
        String sandboxId,
        String name,
        String podUid,
        ContainerState state,
        long createdAtNanos,
        Set<String> images) {
    /** Keeps a copy. */
    public Container {
        images = Set.copyOf(images);
    }

    /** A container whose image is not known. */
    public Container(
            String id, String sandboxId, String name, String podUid, ContainerState state, long createdAtNanos) {
        this(id, sandboxId, name, podUid, state, createdAtNanos, Set.of());
    }
}
