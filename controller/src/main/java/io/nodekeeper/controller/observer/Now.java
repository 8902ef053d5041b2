package io.nodekeeper.controller.observer;

/** The monotonic time since the controller was created. */
public interface Now {
    /** Nanoseconds. */
    long nanos();
}
