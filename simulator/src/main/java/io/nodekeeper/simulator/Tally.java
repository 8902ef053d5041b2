package io.nodekeeper.simulator;

import java.util.ArrayList;
import java.util.List;

/** What the oracle has counted so far. */
final class Tally {
    /** Renewals of leases that the store took. */
    long renewals;
    /** Nodes declared Unknown. */
    long verdicts;
    /** Verdicts that did not come in time. */
    long late;
    /** Verdicts against nodes that had done nothing wrong. */
    long wrong;
    /** Nodes that were back and not Ready in time. */
    long notReturned;
    /** Taints that did not follow the conditions in time. */
    long taintsLate;
    /** How long after its grace each node was declared Unknown, nanoseconds; without those that a control plane's fault delayed. */
    final List<Long> delays = new ArrayList<>();

    /** The broken invariants. */
    long violations() {
        return late + wrong + notReturned + taintsLate;
    }
}
