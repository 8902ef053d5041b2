package io.nodekeeper.controller.observe.report;

/** What two controllers' verdicts about one silence of a node show, in the order of the report. */
enum Outcome {
    /** The other declared a node Unknown that had just sent a heartbeat. */
    FALSE("false", true),
    /** The other declared a node Unknown that sent a heartbeat before this controller would have decided. */
    PREMATURE("premature", true),
    /** This controller would have been earlier. */
    EARLIER("earlier", false),
    /** The other was earlier. */
    LATER("later", false),
    /** Only this controller would have declared the node Unknown. */
    OURS_ALONE("oursAlone", false),
    /** Only the other did, and the history cannot show what this controller would have done. */
    UNDECIDED("undecided", false);

    /** The name in JSON. */
    final String label;
    /** Whether the cluster would have been spared this verdict. */
    final boolean avoided;

    Outcome(String label, boolean avoided) {
        this.label = label;
        this.avoided = avoided;
    }
}
