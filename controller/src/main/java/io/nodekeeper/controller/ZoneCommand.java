package io.nodekeeper.controller;

/** What follows from how many nodes of which zones are ready. */
sealed interface ZoneCommand {

    /** The zone was counted anew; a {@code size} of 0 means that it is no more. */
    record Counted(String zone, int size, int notReady, ZoneState state) implements ZoneCommand {}

    /** From now on so many nodes of the zone may be tainted a second. */
    record SetRate(String zone, float rate) implements ZoneCommand {}

    /**
     * All zones are down, which says more about the control plane than about nodes: no node is to be tainted.
     *
     * @param strip whether the NoExecute taints that are there have to go
     */
    record Enter(boolean strip) implements ZoneCommand {}

    /** At least one zone is not fully down any more. */
    record Exit() implements ZoneCommand {}
}
