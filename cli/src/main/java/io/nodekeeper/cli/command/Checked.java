package io.nodekeeper.cli.command;

/** Flags that can be wrong together though each is well-formed. */
public interface Checked {

    /** Adds everything that is wrong to {@code faults}. */
    void check(Faults faults);
}
