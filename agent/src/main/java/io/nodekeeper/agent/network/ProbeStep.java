package io.nodekeeper.agent.network;

import java.time.Duration;

/** The steps of a network probe, in their order. */
enum ProbeStep {
    /** Finds the sandboxes of earlier probes. */
    LIST("list", 10, "listing sandboxes", "", ""),
    /** Creates a sandbox: the runtime calls CNI's ADD. */
    SETUP("setup", 20, "setting up a test sandbox", "NetworkSetupFailed", "NetworkSetupHung"),
    /** Reads its address. */
    ADDRESS("address", 10, "reading the address of a test sandbox", "NetworkSetupFailed", ""),
    /** Stops it: the runtime calls CNI's DEL. */
    TEARDOWN("teardown", 20, "tearing down a test sandbox", "NetworkTeardownFailed", "NetworkTeardownHung"),
    /** Removes the rest of it, and its network if that still exists. */
    REMOVAL("removal", 20, "removing a test sandbox", "NetworkTeardownFailed", "NetworkTeardownHung");

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

    /** The action, for messages. */
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
