package io.nodekeeper.it.faults;

/** A fault in effect. */
interface Struck {
    /** What is the cause; may grow while the fault lasts. */
    Truth truth();

    /** Whether the cause is still there. */
    boolean lasts() throws Exception;

    /** Ends it, whether or not something else has ended it already. */
    void heal() throws Exception;
}
