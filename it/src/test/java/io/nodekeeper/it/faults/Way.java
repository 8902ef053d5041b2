package io.nodekeeper.it.faults;

/** How something stands still or fails. */
enum Way {
    SIGSTOP("stopped"),
    PTRACE("traced"),
    FREEZER_V1("frozen v1"),
    FREEZER_V2("frozen v2"),
    D_STATE("state D"),
    LOCK("lock"),
    PIPE("pipe"),
    SILENT("silent"),
    SPIN("spins"),
    SLOW("slow"),
    ERROR("errors"),
    GARBAGE("garbage"),
    GONE("gone"),
    RESTARTS("restarts"),
    EXHAUSTION("exhausted");

    private final String text;

    Way(String text) {
        this.text = text;
    }

    /** As a column of a table. */
    String text() {
        return text;
    }
}
