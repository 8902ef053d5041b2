package io.nodekeeper.simulator.lean;

/** The parts of a lean run, in their order. */
public enum LeanPhase {
    REGISTRATION("the nodes register"),
    CALM("the controller settles"),
    VERDICTS("the dead nodes' verdicts become due");

    private final String text;

    LeanPhase(String text) {
        this.text = text;
    }

    /** What happens, for people. */
    public String text() {
        return text;
    }
}
