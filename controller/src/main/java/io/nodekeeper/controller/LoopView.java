package io.nodekeeper.controller;

import io.nodekeeper.api.Condition;
import io.nodekeeper.api.KubeTime;
import io.nodekeeper.api.json.JsonArray;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.api.json.JsonValue;
import io.nodekeeper.controller.flaps.Flaps;
import io.nodekeeper.controller.heartbeats.Heartbeats;
import io.nodekeeper.controller.heartbeats.NodeHealth;
import io.nodekeeper.controller.lags.HeartbeatLags;
import io.nodekeeper.controller.observer.Ages;
import io.nodekeeper.controller.status.FleetStatus;
import io.nodekeeper.controller.verdicts.VerdictFacts;
import io.nodekeeper.time.DeadlineWheel;
import io.nodekeeper.time.Loop;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/** Reads the state of the controller on its loop. Ages use the monotonic clock, and are also shown as wall times. */
final class LoopView implements ControllerView {
    /** The most nodes in the summary of unhealthy nodes: more than people read on a page; about 300 KB. */
    private static final int SHOWN = 1_000;

    private final Loop loop;
    private final Heartbeats heartbeats;
    private final HeartbeatLags lags;
    private final Optional<Flaps> flaps;
    private final LongSupplier now;
    private final Supplier<JsonObject> sight;
    private final Supplier<Optional<String>> blindness;
    private final Supplier<Optional<String>> unready;
    private final FleetStatus fleet;

    /** {@code now} is nanoseconds of the controller's monotonic time; the suppliers run on the loop. */
    LoopView(
            Loop loop,
            Heartbeats heartbeats,
            HeartbeatLags lags,
            Optional<Flaps> flaps,
            LongSupplier now,
            Supplier<JsonObject> sight,
            Supplier<Optional<String>> blindness,
            Supplier<Optional<String>> unready,
            FleetStatus fleet) {
        this.loop = loop;
        this.heartbeats = heartbeats;
        this.lags = lags;
        this.flaps = flaps;
        this.now = now;
        this.sight = sight;
        this.blindness = blindness;
        this.unready = unready;
        this.fleet = fleet;
    }

    @Override
    public CompletableFuture<Optional<JsonObject>> node(String name) {
        return CompletableFuture.supplyAsync(() -> heartbeats.find(name).map(this::facts), loop);
    }

    @Override
    public CompletableFuture<JsonObject> nodes() {
        return CompletableFuture.supplyAsync(this::summary, loop);
    }

    @Override
    public CompletableFuture<JsonObject> status() {
        return CompletableFuture.supplyAsync(fleet::json, loop);
    }

    @Override
    public CompletableFuture<JsonObject> fleet() {
        return CompletableFuture.supplyAsync(fleet::rows, loop);
    }

    @Override
    public CompletableFuture<JsonObject> sight() {
        return CompletableFuture.supplyAsync(sight, loop);
    }

    @Override
    public CompletableFuture<JsonObject> lag() {
        return CompletableFuture.supplyAsync(lags::json, loop);
    }

    @Override
    public CompletableFuture<Optional<String>> unready() {
        return CompletableFuture.supplyAsync(unready, loop);
    }

    private JsonObject facts(NodeHealth health) {
        long at = now.getAsLong();
        JsonObject.Builder facts = JsonObject.builder()
                .put("uid", health.uid())
                .put("resourceVersion", health.version())
                .put("ready", health.reported() ? health.ready() : "never reported")
                .put("lastSignal", health.signal().toString())
                .put("lastSignalAt", wall(health.arrivedAt(), at))
                .put("silentFor", Ages.text(at - health.arrivedAt()))
                .putUnlessEmpty("leaseRenewTime", VerdictFacts.renewTime(health.renewMicros()))
                .putUnlessEmpty("statusHeartbeatTime", health.readyHeartbeat());
        blindness.get().ifPresent(text -> facts.put("controllerIsBlind", text));
        facts.putUnlessEmpty("clock", lags.skew(health.lag()));
        if (health.lag().micros() >= 0) {
            facts.put("lastRenewalLag", Ages.text(health.lag().micros() * 1_000));
        }
        facts.putUnlessEmpty("cause", health.readyCause()).putUnlessEmpty("since", health.unreadySince());
        fleet.addTo(facts, health);
        facts.put("grace", Ages.text(heartbeats.grace(health))).put("suspect", health.isSuspect());
        int falls = flaps.map(damping -> damping.falls(health)).orElse(0);
        if (falls > 0) {
            facts.put("fellFromReady", falls);
        }
        if (health.deadlineAt() != DeadlineWheel.NEVER) {
            facts.put("deadline", wall(health.deadlineAt(), at)).put("deadlineIn", Ages.text(health.deadlineAt() - at));
        }
        return facts.put("declaredUnknownHere", health.silenced())
                .put("underJudgement", health.isJudged())
                .build();
    }

    private JsonObject summary() {
        List<NodeHealth> all = heartbeats.nodes();
        long at = now.getAsLong();
        List<JsonValue> unwell = all.stream()
                .filter(health -> !health.ready().equals(Condition.TRUE) || health.isJudged())
                .limit(SHOWN)
                .<JsonValue>map(health -> JsonObject.builder()
                        .put("name", health.name())
                        .put("ready", health.reported() ? health.ready() : "never reported")
                        .put("lastSignal", health.signal().toString())
                        .put("silentFor", Ages.text(at - health.arrivedAt()))
                        .build())
                .toList();
        return JsonObject.builder()
                .put("nodes", all.size())
                .put("ready", count(all, Condition.TRUE))
                .put("notReady", count(all, Condition.FALSE))
                .put("unknown", count(all, Condition.UNKNOWN))
                .put("neverReported", count(all, ""))
                .put("unwell", new JsonArray(unwell))
                .build();
    }

    private static long count(List<NodeHealth> all, String ready) {
        return all.stream().filter(health -> health.ready().equals(ready)).count();
    }

    private String wall(long moment, long at) {
        Instant wallTime = loop.clock().wallTime();
        return KubeTime.formatMicro(wallTime.plusNanos(moment - at));
    }
}
