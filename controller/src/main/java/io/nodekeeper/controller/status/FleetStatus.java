package io.nodekeeper.controller.status;

import io.nodekeeper.api.Condition;
import io.nodekeeper.api.KubeTime;
import io.nodekeeper.api.json.JsonArray;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.api.json.JsonValue;
import io.nodekeeper.controller.config.ControllerConfig;
import io.nodekeeper.controller.duplicates.Duplicates;
import io.nodekeeper.controller.flaps.Flaps;
import io.nodekeeper.controller.heartbeats.Heartbeats;
import io.nodekeeper.controller.heartbeats.NodeHealth;
import io.nodekeeper.controller.lags.HeartbeatLags;
import io.nodekeeper.controller.observer.Ages;
import io.nodekeeper.controller.observer.ObserverGuard;
import io.nodekeeper.controller.pods.PlannedEvictions;
import io.nodekeeper.controller.pods.Workload;
import io.nodekeeper.controller.zones.ZoneKey;
import io.nodekeeper.controller.zones.ZoneNode;
import io.nodekeeper.controller.zones.ZoneSummary;
import io.nodekeeper.controller.zones.Zones;
import io.nodekeeper.time.Clock;
import io.nodekeeper.time.DeadlineWheel;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.LongSupplier;
import java.util.stream.Stream;

/**
 * The state of the fleet as one value: what the controller can see, the zones, the nodes that are not well, and what
 * is about to happen. It is computed when it is asked for, in time linear in the number of nodes and of the pods on
 * tainted nodes. Confined to the loop.
 */
public final class FleetStatus {
    /** The most nodes in the list of unwell ones: more than people read; about 400 KB. */
    private static final int UNWELL = 1_000;
    /** The most entries of each other list: some screens. */
    private static final int OTHERS = 100;
    /** The most entries of the list of the longest silent nodes: which of them comes next is what matters. */
    private static final int SILENT = 5;

    private final ControllerConfig config;
    private final Clock clock;
    private final LongSupplier now;
    private final Heartbeats heartbeats;
    private final ObserverGuard guard;
    private final HeartbeatLags lags;
    private final Zones zones;
    private final Optional<Flaps> flaps;
    private final Duplicates duplicates;
    private final Workload workload;
    private final FleetRows rows;

    /** {@code now} is nanoseconds of the controller's monotonic time. */
    public FleetStatus(
            ControllerConfig config,
            Clock clock,
            LongSupplier now,
            Heartbeats heartbeats,
            ObserverGuard guard,
            HeartbeatLags lags,
            Zones zones,
            Optional<Flaps> flaps,
            Duplicates duplicates,
            Workload workload) {
        this.config = config;
        this.clock = clock;
        this.now = now;
        this.heartbeats = heartbeats;
        this.guard = guard;
        this.lags = lags;
        this.zones = zones;
        this.flaps = flaps;
        this.duplicates = duplicates;
        this.workload = workload;
        this.rows = new FleetRows(clock, heartbeats, zones, flaps, duplicates);
    }

    /** The status. */
    public JsonObject json() {
        long at = now.getAsLong();
        List<NodeHealth> all = heartbeats.nodes();
        Map<NodeHealth, Duration> damped = flaps.map(Flaps::damped).orElse(Map.of());
        JsonObject sight = guard.json(at);
        Optional<String> blindness = guard.blindness(at);
        if (blindness.isPresent()) {
            sight = sight.with("blindness", blindness.get());
        }
        return JsonObject.builder()
                .put("at", KubeTime.formatMicro(clock.wallTime()))
                .put("sight", sight)
                .put("lag", lags.json())
                .put("nodes", all.size())
                .put("ready", count(all, Condition.TRUE))
                .put("notReady", count(all, Condition.FALSE))
                .put("unknown", count(all, Condition.UNKNOWN))
                .put("neverReported", count(all, ""))
                .put("zones", array(zones(all).stream().map(FleetStatus::zone), OTHERS))
                .put("unwell", array(unwell(all).map(health -> node(health, at)), UNWELL))
                .put("suspects", array(suspects(all).map(health -> node(health, at)), OTHERS))
                .put("damped", array(all.stream().filter(damped::containsKey).map(health -> node(health, at)), OTHERS))
                .put("duplicates", array(duplicates(all, at), OTHERS))
                .put("longestSilent", array(longestSilent(all).map(health -> node(health, at)), SILENT))
                .put("next", array(next(all, damped, at), OTHERS))
                .build();
    }

    /** Each node in a few words; see {@link FleetRows}. */
    public JsonObject rows() {
        return rows.json();
    }

    /** Adds what this knows about a node to the facts about it. */
    public void addTo(JsonObject.Builder facts, NodeHealth health) {
        duplicates.text(health).ifPresent(text -> facts.put("duplicate", text));
        zones.node(health).ifPresent(node -> facts.put("zone", ZoneKey.text(node.zone())));
        flaps.flatMap(damping -> damping.damped(health)).ifPresent(left -> facts.put("dampedUntil", wall(left)));
        workload.planned(health.name())
                .ifPresent(planned -> facts.put("plannedEvictions", planned.pods())
                        .put("nextEviction", wall(planned.next()))
                        .put("nextEvictionIn", Ages.text(planned.next().toNanos())));
    }

    private List<ZoneSummary> zones(List<NodeHealth> all) {
        List<ZoneNode> nodes =
                all.stream().flatMap(health -> zones.node(health).stream()).toList();
        return ZoneSummary.of(nodes, config.zones().unhealthyZoneThreshold());
    }

    private static JsonObject zone(ZoneSummary zone) {
        return JsonObject.builder()
                .put("zone", ZoneKey.text(zone.zone()))
                .put("state", zone.state().toString())
                .put("nodes", zone.nodes())
                .put("notReady", zone.notReady())
                .put("waitingForTaint", zone.waiting())
                .build();
    }

    /** The worst first: silent nodes, longest first, then the others. */
    private static Stream<NodeHealth> unwell(List<NodeHealth> all) {
        return all.stream()
                .filter(health -> !health.ready().equals(Condition.TRUE) || health.isJudged())
                .sorted(Comparator.comparing(
                                (NodeHealth health) -> !health.ready().equals(Condition.UNKNOWN))
                        .thenComparing(NodeHealth::arrivedAt)
                        .thenComparing(NodeHealth::name));
    }

    private static Stream<NodeHealth> suspects(List<NodeHealth> all) {
        return all.stream()
                .filter(NodeHealth::isSuspect)
                .sorted(Comparator.comparing(NodeHealth::arrivedAt).thenComparing(NodeHealth::name));
    }

    /** The Ready nodes whose last heartbeat is oldest. */
    private static Stream<NodeHealth> longestSilent(List<NodeHealth> all) {
        return all.stream()
                .filter(health -> health.ready().equals(Condition.TRUE))
                .sorted(Comparator.comparing(NodeHealth::arrivedAt).thenComparing(NodeHealth::name));
    }

    private Stream<JsonObject> duplicates(List<NodeHealth> all, long at) {
        return all.stream()
                .flatMap(health -> duplicates.text(health).stream()
                        .map(text -> node(health, at).with("machines", text)));
    }

    private JsonObject node(NodeHealth health, long at) {
        JsonObject.Builder node = JsonObject.builder()
                .put("name", health.name())
                .put(
                        "zone",
                        zones.node(health)
                                .map(ZoneNode::zone)
                                .map(ZoneKey::text)
                                .orElse(""))
                .put("ready", health.reported() ? health.ready() : "never reported")
                .putUnlessEmpty("cause", health.readyCause())
                .putUnlessEmpty("since", health.unreadySince())
                .put("lastSignal", health.signal().toString())
                .put("silentMillis", (at - health.arrivedAt()) / 1_000_000);
        int falls = flaps.map(damping -> damping.falls(health)).orElse(0);
        return falls == 0 ? node.build() : node.put("fellFromReady", falls).build();
    }

    /** One thing that is about to happen. */
    private record Coming(Duration in, String node, String what) {}

    private Stream<JsonObject> next(List<NodeHealth> all, Map<NodeHealth, Duration> damped, long at) {
        List<Coming> coming = new ArrayList<>();
        for (NodeHealth health : all) {
            if (health.isJudged()) {
                coming.add(new Coming(
                        Duration.ZERO,
                        health.name(),
                        guard.isBlind(at)
                                ? "its grace is over; no verdict while the controller is blind"
                                : "its grace is over; a live read decides"));
            } else if (health.isSuspect() && health.deadlineAt() != DeadlineWheel.NEVER) {
                Duration left = Duration.ofNanos(Math.max(0, health.deadlineAt() - at));
                coming.add(new Coming(left, health.name(), "becomes Unknown, unless it sends a heartbeat"));
            }
        }
        for (PlannedEvictions planned : workload.planned()) {
            String pods = planned.pods() == 1 ? "its pod is" : "the first of its " + planned.pods() + " pods is";
            coming.add(new Coming(planned.next(), planned.node(), pods + " evicted"));
        }
        damped.forEach((health, left) ->
                coming.add(new Coming(left, health.name(), "its damping ends; taints follow its condition again")));
        return coming.stream()
                .sorted(Comparator.comparing(Coming::in).thenComparing(Coming::node))
                .map(thing -> JsonObject.builder()
                        .put("at", wall(thing.in()))
                        .put("inMillis", thing.in().toMillis())
                        .put("node", thing.node())
                        .put("what", thing.what())
                        .build());
    }

    private String wall(Duration in) {
        return KubeTime.formatMicro(clock.wallTime().plus(in));
    }

    private static JsonArray array(Stream<JsonObject> objects, int limit) {
        return new JsonArray(
                objects.<JsonValue>map(object -> object).limit(limit).toList());
    }

    private static long count(List<NodeHealth> all, String ready) {
        return all.stream().filter(health -> health.ready().equals(ready)).count();
    }
}
