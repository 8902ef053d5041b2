package io.nodekeeper.cli;

/** Flags that can be wrong together though each is well-formed. */
interface Checked {

    /** Adds everything that is wrong to {@code faults}. */
    void check(Faults faults);
}
