package io.nodekeeper.agent.pods.probes;

/** Gets what the probes of a pod find, on its loop. */
public interface ProbeListener {
    /** A warning about the pod. */
    void warning(String reason, String message);

    /** The health of a container has changed. */
    void changed();
}
