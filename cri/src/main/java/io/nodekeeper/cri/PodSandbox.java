package io.nodekeeper.cri;

/**
 * A pod's sandbox, as a list shows it.
 *
 * @param id the runtime's own
 * @param podUid from the sandbox's metadata
 * @param attempt how many sandboxes the pod had before
 * @param ready whether it runs; a sandbox that does not is never ready again
 * @param createdAtNanos since 1970; nonsense for a sandbox whose start failed
 */
public record PodSandbox(
        String id,
        String podUid,
        String podName,
        String podNamespace,
        int attempt,
        boolean ready,
        long createdAtNanos) {}
