package io.nodekeeper.controller.status;

import io.nodekeeper.api.Condition;
import io.nodekeeper.api.KubeTime;
import io.nodekeeper.api.json.JsonArray;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.api.json.JsonValue;
import io.nodekeeper.controller.duplicates.Duplicates;
import io.nodekeeper.controller.flaps.Flaps;
import io.nodekeeper.controller.heartbeats.Heartbeats;
import io.nodekeeper.controller.heartbeats.NodeHealth;
import io.nodekeeper.controller.zones.ZoneKey;
import io.nodekeeper.controller.zones.Zones;
import io.nodekeeper.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Each node in a few words: {@code [name, zone, state, reason, since]}. A row changes only with the state of its node,
 * not with each heartbeat, so that the difference of two lists is small. Confined to the loop.
 */
final class FleetRows {
    /** The most nodes: about 6 MB; the largest clusters that Kubernetes supports have 5,000. */
    private static final int MOST = 50_000;
    /** The most characters of a reason; the node's own page has all of it. */
    private static final int REASON = 160;

    private final Clock clock;
    private final Heartbeats heartbeats;
    private final Zones zones;
    private final Optional<Flaps> flaps;
    private final Duplicates duplicates;

    FleetRows(Clock clock, Heartbeats heartbeats, Zones zones, Optional<Flaps> flaps, Duplicates duplicates) {
        this.clock = clock;
        this.heartbeats = heartbeats;
        this.zones = zones;
        this.flaps = flaps;
        this.duplicates = duplicates;
    }

    JsonObject json() {
        List<NodeHealth> all = heartbeats.nodes();
        Map<NodeHealth, Duration> damped = flaps.map(Flaps::damped).orElse(Map.of());
        List<JsonValue> rows = all.stream()
                .limit(MOST)
                .<JsonValue>map(health -> row(health, damped.containsKey(health)))
                .toList();
        return JsonObject.builder()
                .put("at", KubeTime.formatMicro(clock.wallTime()))
                .put("nodes", all.size())
                .put("rows", new JsonArray(rows))
                .build();
    }

    private JsonArray row(NodeHealth health, boolean damped) {
        Optional<String> machines = duplicates.text(health);
        String reason = machines.orElse(health.readyCause());
        return JsonArray.ofStrings(List.of(
                health.name(),
                zones.node(health).map(node -> ZoneKey.text(node.zone())).orElse(""),
                state(health, damped, machines.isPresent()),
                reason.length() <= REASON ? reason : reason.substring(0, REASON) + "...",
                health.unreadySince()));
    }

    /** The worst that is true of the node. */
    private static String state(NodeHealth health, boolean damped, boolean duplicate) {
        if (!health.reported()) {
            return "new";
        }
        return switch (health.ready()) {
            case Condition.UNKNOWN -> "unknown";
            case Condition.FALSE -> "notReady";
            default ->
                health.isJudged()
                        ? "judged"
                        : duplicate ? "duplicate" : health.isSuspect() ? "late" : damped ? "damped" : "ready";
        };
    }
}
