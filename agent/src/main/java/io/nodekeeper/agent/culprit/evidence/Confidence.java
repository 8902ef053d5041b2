package io.nodekeeper.agent.culprit.evidence;

/** How sure the diagnosis is that a culprit is the cause. */
public enum Confidence {
    /** The kernel or the runtime reports each step from the call to the cause. */
    CERTAIN("certain"),
    /** One step is an assumption, for example that a call waits for the only process that hangs for its pod. */
    LIKELY("likely"),
    /** A call is late, and nothing that was examined explains it. */
    UNKNOWN("unknown");

    private final String text;

    Confidence(String text) {
        this.text = text;
    }

    /** The display name. */
    public String text() {
        return text;
    }
}
