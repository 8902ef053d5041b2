package io.nodekeeper.cri;

/**
 * The configuration of a new sandbox with its own network, process and IPC namespaces.
 *
 * @param attempt must increase after a failed attempt for the same pod: the runtime may still reserve its name
 * @param logDirectory absolute; the runtime creates it
 */
public record SandboxConfig(String podUid, String podName, String podNamespace, int attempt, String logDirectory) {}
