package io.nodekeeper.cli;

/** How a command writes its answer. */
enum Output {
    /** For people. */
    text,
    /** For programs. */
    json
}
