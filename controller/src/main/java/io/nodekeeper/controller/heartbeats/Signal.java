package io.nodekeeper.controller.heartbeats;

/** Where a sign of life was seen. */
public enum Signal {
    /** None yet: time counts from the first sight of the node. */
    FIRST_SIGHT("first sight"),
    /** {@code renewTime} of its Lease changed, and the node holds it. */
    LEASE("lease"),
    /** The heartbeat or the value of its Ready condition changed. */
    STATUS("status");

    private final String text;

    Signal(String text) {
        this.text = text;
    }

    @Override
    public String toString() {
        return text;
    }
}
