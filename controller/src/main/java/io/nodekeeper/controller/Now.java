package io.nodekeeper.controller;

/** The monotonic time since the controller was made. */
interface Now {
    /** Nanoseconds. */
    long nanos();
}
