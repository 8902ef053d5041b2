package io.nodekeeper.it.faults;

/** How something stands still or fails. */
enum Way {
    SIGSTOP,
    PTRACE,
    FREEZER_V1,
    FREEZER_V2,
    D_STATE,
    LOCK,
    PIPE,
    SOCKET,
    FUSE,
    SLEEP,
    SPIN,
    SLOW,
    ERROR,
    GARBAGE,
    GONE,
    RESTARTS,
    EXHAUSTION
}
