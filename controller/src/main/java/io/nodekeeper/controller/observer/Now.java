package io.nodekeeper.controller.observer;

/** The monotonic time since the controller was made. */
public interface Now {
    /** Nanoseconds. */
    long nanos();
}
