package io.nodekeeper.controller.heartbeats;

/** The kind of a heartbeat. */
public enum Signal {
    /** No heartbeat yet: time counts from when the node was first seen. */
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
