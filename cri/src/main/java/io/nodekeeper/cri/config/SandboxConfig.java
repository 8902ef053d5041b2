package io.nodekeeper.cri.config;

/**
 * The configuration of a new sandbox. Immutable.
 *
 * @param attempt must increase after a failed attempt for the same pod: the runtime may still reserve its name
 * @param logDirectory absolute; the runtime creates it
 * @param options what differs between pods
 */
public record SandboxConfig(
        String podUid, String podName, String podNamespace, int attempt, String logDirectory, SandboxOptions options) {

    /** A sandbox with the default options: namespaces of its own, the pod's name as hostname. */
    public SandboxConfig(String podUid, String podName, String podNamespace, int attempt, String logDirectory) {
        this(podUid, podName, podNamespace, attempt, logDirectory, SandboxOptions.named(podName));
    }
}
