package io.nodekeeper.controller.reference;

import io.nodekeeper.controller.config.ZoneConfig;
import io.nodekeeper.controller.zones.ZoneCommand;
import io.nodekeeper.controller.zones.ZoneState;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Decides what follows from the counts of one pass over all nodes exactly as Kubernetes does: a new zone was not down
 * before, so a start with all zones down is a transition; and when the first zone recovers, the grace period of all
 * nodes restarts. Pure; not thread-safe.
 */
final class PassDisruption {
    /** The counted nodes of a zone. */
    record Count(int ready, int notReady) {
        /** The count with one node more. */
        Count plus(boolean isReady) {
            return isReady ? new Count(ready + 1, notReady) : new Count(ready, notReady + 1);
        }

        private int size() {
            return ready + notReady;
        }
    }

    private final ZoneConfig config;
    private final Map<String, ZoneState> before = new TreeMap<>();

    PassDisruption(ZoneConfig config) {
        this.config = config;
    }

    /** Adds the zone; true if it is new. */
    boolean add(String zone) {
        return before.putIfAbsent(zone, ZoneState.INITIAL) == null;
    }

    /** Whether the zone was added, and no pass has ended since without one of its nodes. */
    boolean knows(String zone) {
        return before.containsKey(zone);
    }

    /** The commands that follow from a pass with these counts. */
    List<ZoneCommand> step(Map<String, Count> counts) {
        List<ZoneCommand> commands = new ArrayList<>();
        Map<String, ZoneState> now = new TreeMap<>();
        counts.forEach((zone, count) -> {
            add(zone);
            ZoneState state = ZoneState.of(count.ready, count.notReady, config.unhealthyZoneThreshold());
            now.put(zone, state);
            commands.add(new ZoneCommand.Counted(zone, count.size(), count.notReady, state));
        });
        for (String zone : List.copyOf(before.keySet())) {
            if (!counts.containsKey(zone)) {
                before.remove(zone);
                commands.add(new ZoneCommand.Counted(zone, 0, 0, ZoneState.INITIAL));
            }
        }
        // Both are true for a cluster without nodes that count, and nothing happens then.
        boolean wereAllDown = before.values().stream().allMatch(state -> state == ZoneState.FULL_DISRUPTION);
        boolean areAllDown = now.values().stream().allMatch(state -> state == ZoneState.FULL_DISRUPTION);
        if (areAllDown && !wereAllDown) {
            commands.add(new ZoneCommand.Enter(true));
            now.keySet().forEach(zone -> commands.add(new ZoneCommand.SetRate(zone, 0)));
        } else if (!areAllDown) {
            if (wereAllDown) {
                commands.add(new ZoneCommand.Exit());
            }
            now.forEach((zone, state) -> {
                if (wereAllDown || before.get(zone) != state) {
                    int size = counts.getOrDefault(zone, new Count(0, 0)).size();
                    commands.add(new ZoneCommand.SetRate(zone, state.rate(config, size)));
                }
            });
        }
        before.putAll(now);
        return commands;
    }
}
