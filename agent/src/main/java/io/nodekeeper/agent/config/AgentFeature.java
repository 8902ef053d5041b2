package io.nodekeeper.agent.config;

import java.util.Arrays;
import java.util.List;

/**
 * The agent's feature gates: each enables one difference from the kubelet. {@code --feature-gates=NAME=false}
 * restores the kubelet's behaviour.
 */
public enum AgentFeature {
    /** Inspects pods in parallel, each with a deadline. Off: one after another, up to two minutes for each call. */
    PARALLEL_PLEG("ParallelPLEG", "a pod that hangs delays no other pod and does not make the node NotReady", true),
    /** Computes the status from memory. Off: waits for a version call to the runtime first. */
    RUNTIME_SNAPSHOTS("RuntimeSnapshots", "the status never waits for the container runtime", true),
    /** Finds and reports what makes the runtime hang. Off: log lines only. */
    RUNTIME_CULPRITS("RuntimeCulprits", "the process or plugin that makes the runtime hang is named", true),
    /** Inspects a pod when the runtime sends an event about it. Off: at the next relist. */
    EVENTED_PLEG(
            "EventedPLEG", "an event of the runtime triggers an inspection of its pod before the next relist", true),
    /** Checks the node as node-problem-detector does. Off: no conditions and events about the node itself. */
    NODE_PROBLEMS("NodeProblems", "problems of kernel, disks, clock and limits are conditions and events", true),
    /** Runs the pods that are bound to the node. Off: the agent only watches them. Alpha: see docs/pods.md. */
    POD_LIFECYCLE("PodLifecycle", "the agent runs the pods that are bound to its node, as far as docs/pods.md", false),
    /** Kubernetes' gate of the same name. Off: the agent does not notice that the machine is shut down. */
    GRACEFUL_NODE_SHUTDOWN(
            "GracefulNodeShutdown", "with shutdownGracePeriod: pods end before the machine, in groups", true),
    /**
     * Kubernetes' gate of the same name: registration fails if creating Nodes is forbidden. Off: looks for an
     * existing Node.
     */
    KUBELET_REGISTRATION_GET_ON_EXISTS_ONLY(
            "KubeletRegistrationGetOnExistsOnly", "registration fails where creating Nodes is forbidden", false);

    private final String text;
    private final String purpose;
    private final boolean byDefault;

    AgentFeature(String text, String purpose, boolean byDefault) {
        this.text = text;
        this.purpose = purpose;
        this.byDefault = byDefault;
    }

    /** Its name in {@code --feature-gates} and in the configuration file. */
    public String text() {
        return text;
    }

    /** Its effect, for help texts. */
    public String purpose() {
        return purpose;
    }

    /** Its state if it is not set. */
    public boolean byDefault() {
        return byDefault;
    }

    /** The names of all. */
    public static List<String> names() {
        return Arrays.stream(values()).map(AgentFeature::text).toList();
    }
}
