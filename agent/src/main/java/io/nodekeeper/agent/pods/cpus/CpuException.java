package io.nodekeeper.agent.pods.cpus;

/** Processors cannot be given to a container. The message is that of a kubelet. */
public final class CpuException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    CpuException(String message) {
        super(message);
    }
}
