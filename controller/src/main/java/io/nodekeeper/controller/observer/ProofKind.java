package io.nodekeeper.controller.observer;

/** The kind of the newest proof. */
public enum ProofKind {
    /** A canary returned through the watch. */
    WATCH("watch", "a canary returned through the watch"),
    /** A canary whose write was acknowledged in time was read live, with the leases. */
    LIST("list", "a list of the leases showed a canary that had been written in time"),
    /** Leases were read live, and at least half of the nodes had renewed theirs. */
    RENEWALS("renewals", "a list of the leases showed that at least half of the nodes renew their leases"),
    /** Leases were read live, and another lease had been written by this process in time. */
    WRITES("writes", "leases were listed after this process had written another lease in time");

    private final String label;
    private final String meaning;

    ProofKind(String label, String meaning) {
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
