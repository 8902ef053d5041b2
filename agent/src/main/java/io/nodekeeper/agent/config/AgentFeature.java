package io.nodekeeper.agent.config;

import java.util.Arrays;
import java.util.List;

/**
 * What this agent does otherwise than the kubelet, each to be switched alone with {@code --feature-gates=NAME=false}: the
 * kubelet's behaviour returns then.
 */
public enum AgentFeature {
    /** Pods are inspected side by side, each with a deadline. Off: one after another, two minutes for each call. */
    PARALLEL_PLEG("ParallelPLEG", "a pod that hangs delays no other pod and never costs the node its Ready", true),
    /** The status is made of what is remembered. Off: it asks the runtime for its version and waits. */
    RUNTIME_SNAPSHOTS("RuntimeSnapshots", "the status never waits for the container runtime", true),
    /** What hangs is looked for and named. Off: nothing but the log. */
    RUNTIME_CULPRITS("RuntimeCulprits", "the process or plugin that makes the runtime hang is named", true),
    /** The runtime's events ask for a look at their pod. Off: each pod waits for the next relist. */
    EVENTED_PLEG(
            "EventedPLEG", "what the runtime tells of a container is looked at without waiting for a relist", true),
    /** Kubernetes' gate of that name: a creation that is forbidden fails. Off: an existing Node is looked for. */
    KUBELET_REGISTRATION_GET_ON_EXISTS_ONLY(
            "KubeletRegistrationGetOnExistsOnly", "registering fails where creating Nodes is forbidden", false);

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

    /** What it is good for, for people. */
    public String purpose() {
        return purpose;
    }

    /** Whether it is open unless something else is said. */
    public boolean byDefault() {
        return byDefault;
    }

    /** The names of all. */
    public static List<String> names() {
        return Arrays.stream(values()).map(AgentFeature::text).toList();
    }
}
