package io.nodekeeper.controller.zones;

/** A command that follows from the counts of ready nodes by zone. */
public sealed interface ZoneCommand {

    /** The zone's counts have changed; a {@code size} of 0 means that it has no more nodes. */
    record Counted(String zone, int size, int notReady, ZoneState state) implements ZoneCommand {}

    /** Sets how many nodes of the zone may be tainted per second. */
    record SetRate(String zone, float rate) implements ZoneCommand {}

    /**
     * All zones are fully disrupted, which points to a fault of the control plane rather than of nodes: stop tainting.
     *
     * @param strip whether to remove existing NoExecute taints
     */
    record Enter(boolean strip) implements ZoneCommand {}

    /** At least one zone is no longer fully disrupted. */
    record Exit() implements ZoneCommand {}
}
