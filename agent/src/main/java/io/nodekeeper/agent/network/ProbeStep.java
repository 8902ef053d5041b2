package io.nodekeeper.agent.network;

import java.time.Duration;

/** The steps of a probe, in their order. */
enum ProbeStep {
    /** Left-overs of earlier probes are looked for. */
    LIST("list", 10, "listing sandboxes", "", ""),
    /** A sandbox is made: the runtime calls CNI's ADD. */
    SETUP("setup", 20, "setting a probe sandbox up", "NetworkSetupFailed", "NetworkSetupHung"),
    /** Its address is looked at. */
    ADDRESS("address", 10, "looking at a probe sandbox", "NetworkSetupFailed", ""),
    /** It is stopped: the runtime calls CNI's DEL. */
    TEARDOWN("teardown", 20, "taking a probe sandbox down", "NetworkTeardownFailed", "NetworkTeardownHung"),
    /** What is left of it is removed, its network included if that is still there. */
    REMOVAL("removal", 20, "removing a probe sandbox", "NetworkTeardownFailed", "NetworkTeardownHung");

    private final String text;
    private final Duration deadline;
    private final String doing;
    private final String failed;
    private final String hung;

    ProbeStep(String text, int seconds, String doing, String failed, String hung) {
        this.text = text;
        this.deadline = Duration.ofSeconds(seconds);
        this.doing = doing;
        this.failed = failed;
        this.hung = hung;
    }

    /** Its name in metrics. */
    String text() {
        return text;
    }

    /**
     * The deadline: 20 s for steps that run a CNI plugin, which takes seconds on a busy node; 10 s for those that the
     * runtime answers from memory.
     */
    Duration deadline() {
        return deadline;
    }

    /** What is done in it, for a message. */
    String doing() {
        return doing;
    }

    /** The condition's reason if it fails; empty if a failure says nothing about the network. */
    String failed() {
        return failed;
    }

    /** The condition's reason if it times out; empty if that says nothing about the network. */
    String hung() {
        return hung;
    }
}
