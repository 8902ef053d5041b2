package io.nodekeeper.cri;

/**
 * A pod's sandbox, as a list shows it.
 *
 * @param id the runtime's id
 * @param podUid from the sandbox's metadata
 * @param attempt how many sandboxes the pod had before
 * @param ready whether it runs; a sandbox that stopped never becomes ready again
 * @param createdAtNanos since 1970; not reliable for a sandbox whose start failed
 */
public record PodSandbox(
        String id,
        String podUid,
        String podName,
        String podNamespace,
        int attempt,
        boolean ready,
        long createdAtNanos) {}
