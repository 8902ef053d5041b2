package io.nodekeeper.cri;

/**
 * A sandbox to be made, with a network, a process and an IPC namespace of its own.
 *
 * @param attempt must rise when an earlier try of the same pod failed: the runtime may still hold its name
 * @param logDirectory absolute; the runtime makes it
 */
public record SandboxConfig(String podUid, String podName, String podNamespace, int attempt, String logDirectory) {}
