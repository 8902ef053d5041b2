package io.nodekeeper.cli.command;

/** Flags that need checks beyond the form of each. */
public interface Checked {

    /** Adds every fault to {@code faults}. */
    void check(Faults faults);
}
