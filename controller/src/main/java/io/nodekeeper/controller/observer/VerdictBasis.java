package io.nodekeeper.controller.observer;

/** The basis of verdicts. */
public enum VerdictBasis {
    /** Canaries that return through the watch in time. */
    FULL("full", "nodes get verdicts as usual"),
    /** Canaries that return through the watch late. */
    LATE("late", "nodes get verdicts later than usual, from a watch that is late"),
    /** Lists of the leases, and canaries. */
    LIST(
            "list",
            "nodes get verdicts later than usual, from live reads, because lists of the leases show that writes"
                    + " succeed"),
    /** Lists of the leases, and the nodes' renewals. */
    RENEWALS(
            "renewals",
            "nodes get verdicts later than usual, from live reads, because lists of the leases show that at"
                    + " least half of the nodes renew their leases"),
    /** Lists of the leases, and other writes of this process. */
    WRITES(
            "writes",
            "nodes get verdicts later than usual, from live reads, because writes of this process to other"
                    + " leases succeed"),
    /** No proof. */
    NONE("none", "no node gets a verdict, and the nodes' clock stands still");

    private final String label;
    private final String meaning;

    VerdictBasis(String label, String meaning) {
        this.label = label;
        this.meaning = meaning;
    }

    /** As in metric labels. */
    public String label() {
        return label;
    }

    public String meaning() {
        return meaning;
    }
}
