package io.nodekeeper.agent.eviction;

import java.util.List;
import java.util.Set;

/** Gets what each measurement of the node shows, on the agent's loop. */
public interface PressureListener {
    /** Does nothing. */
    PressureListener NONE = (shortages, pressures) -> {};

    /**
     * The node was measured.
     *
     * @param shortages for what pods are to be evicted, the most urgent first
     * @param pressures the conditions that are True
     */
    void measured(List<Shortage> shortages, Set<Pressure> pressures);
}
