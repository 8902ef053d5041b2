package io.nodekeeper.cli.status;

/** How {@code status} writes its answer. */
public enum StatusOutput {
    /** For people: one screen. */
    text,
    /** For people: all nodes and more columns. */
    wide,
    /** For programs. */
    json,
    /** For programs and people. */
    yaml
}
