package io.nodekeeper.cli.output;

/** How a command writes its answer. */
public enum Output {
    /** For people. */
    text,
    /** For programs. */
    json
}
