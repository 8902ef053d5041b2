package io.nodekeeper.controller.zones;

import io.nodekeeper.controller.config.ZoneConfig;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * Counts ready and other nodes by zone and returns the resulting commands. A node's change costs O(1); all zones are
 * checked only when the last one becomes fully disrupted or the first one recovers. Pure; not thread-safe.
 *
 * <p>Whether all zones are down follows from these counts. A start with all zones down is therefore not a transition:
 * no zone was seen up before, and the existing taints are an earlier controller's decision.
 */
final class FairDisruption {
    private enum Everything {
        /** The zone has no counted node yet. */
        UNSEEN,
        UP,
        DOWN
    }

    private static final class Tally {
        private int ready;
        private int notReady;
        private ZoneState state = ZoneState.INITIAL;
    }

    private final ZoneConfig config;
    /** Whether existing taints stay if all zones are down at a start. */
    private final boolean keepTaints;

    private final Map<String, Tally> zones = new TreeMap<>();
    private final Set<String> changed = new LinkedHashSet<>();
    /** The number of fully disrupted zones. */
    private int down;

    private Everything everything = Everything.UNSEEN;

    FairDisruption(ZoneConfig config, boolean keepTaints) {
        this.config = config;
        this.keepTaints = keepTaints;
    }

    /** Adds to the counts of the zone; negative numbers subtract. */
    void count(String zone, int ready, int notReady) {
        Tally tally = zones.computeIfAbsent(zone, key -> new Tally());
        tally.ready += ready;
        tally.notReady += notReady;
        changed.add(zone);
    }

    /** The commands that follow from all counts since the last step. */
    List<ZoneCommand> step() {
        if (changed.isEmpty()) {
            return List.of();
        }
        List<ZoneCommand> commands = new ArrayList<>();
        for (String zone : changed) {
            commands.add(judge(zone));
        }
        Everything before = everything;
        everything = zones.isEmpty() ? Everything.UNSEEN : down == zones.size() ? Everything.DOWN : Everything.UP;
        if (everything == Everything.DOWN && before != Everything.DOWN) {
            commands.add(new ZoneCommand.Enter(before == Everything.UP || !keepTaints));
        } else if (everything != Everything.DOWN && before == Everything.DOWN) {
            commands.add(new ZoneCommand.Exit());
        }
        changed.forEach(zone -> commands.add(new ZoneCommand.SetRate(zone, rate(zone))));
        changed.clear();
        return commands;
    }

    /** How many nodes of that zone may be tainted per second. */
    float rate(String zone) {
        if (everything == Everything.DOWN) {
            return 0;
        }
        Tally tally = zones.get(zone);
        return tally == null ? config.nodeEvictionRate() : tally.state.rate(config, tally.ready + tally.notReady);
    }

    private ZoneCommand judge(String zone) {
        Tally tally = zones.getOrDefault(zone, new Tally());
        int size = tally.ready + tally.notReady;
        ZoneState before = tally.state;
        tally.state = size == 0
                ? ZoneState.INITIAL
                : ZoneState.of(tally.ready, tally.notReady, config.unhealthyZoneThreshold());
        down += (tally.state == ZoneState.FULL_DISRUPTION ? 1 : 0) - (before == ZoneState.FULL_DISRUPTION ? 1 : 0);
        if (size == 0) {
            zones.remove(zone);
        }
        return new ZoneCommand.Counted(zone, size, tally.notReady, tally.state);
    }
}
