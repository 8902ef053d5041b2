package io.nodekeeper.cri;

/**
 * A container, as a list shows it.
 *
 * @param podUid from its label {@code io.kubernetes.pod.uid}; empty if it has none
 */
public record Container(
        String id, String sandboxId, String name, String podUid, ContainerState state, long createdAtNanos) {}
