package io.nodekeeper.cli.ui;

import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonArray;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.api.json.JsonValue;
import io.nodekeeper.cli.why.NodeStory;
import io.nodekeeper.controller.ControllerView;
import io.nodekeeper.controller.debug.DebugPages;
import io.nodekeeper.controller.history.Decision;
import io.nodekeeper.controller.history.MemoryHistory;
import io.nodekeeper.controller.metrics.ControllerMetrics;
import io.nodekeeper.time.Loop;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;

/** A generated fleet behind the real pages of a controller. Its methods run on the loop or before pages are served. */
final class ShownFleet implements ControllerView {
    final MemoryHistory history = new MemoryHistory();
    private final Map<String, JsonArray> rows = new TreeMap<>();
    private final Loop loop;
    private Optional<String> blindness = Optional.empty();
    private JsonObject next = JsonObject.EMPTY;

    ShownFleet(Loop loop) {
        this.loop = loop;
    }

    /** The pages that a controller with this fleet serves; without an API. */
    WebPages pages(Loop timer) {
        return new WebPages(
                new DebugPages(this, history, new ControllerMetrics(), loop, timer),
                this,
                new NodeStory(Optional.empty(), timer),
                timer);
    }

    void node(String name, String zone, String state, String reason, String since) {
        rows.put(name, JsonArray.ofStrings(List.of(name, zone, state, reason, since)));
    }

    void blind(String words) {
        blindness = Optional.of(words);
    }

    void next(JsonObject thing) {
        next = thing;
    }

    void decided(Instant at, String node, String kind, String text, JsonObject details) {
        history.add(new Decision(at, node, "", kind, text, details));
    }

    @Override
    public CompletableFuture<Optional<JsonObject>> node(String name) {
        return CompletableFuture.supplyAsync(
                () -> Optional.ofNullable(rows.get(name)).map(this::facts), loop);
    }

    private JsonObject facts(JsonArray row) {
        List<String> texts = row.strings().toList();
        String ready = switch (texts.get(2)) {
            case "unknown" -> "Unknown";
            case "notReady" -> "False";
            default -> "True";
        };
        JsonObject.Builder facts = JsonObject.builder()
                .put("ready", ready)
                .put("lastSignal", "lease")
                .put("silentFor", "57.9s")
                .put("zone", texts.get(1))
                .putUnlessEmpty("cause", texts.get(3))
                .putUnlessEmpty("since", texts.get(4))
                .put("grace", "50s");
        blindness.ifPresent(words -> facts.put("controllerIsBlind", words)
                .put("lastSignalAt", loop.clock().wallTime().minusSeconds(42).toString()));
        return facts.build();
    }

    @Override
    public CompletableFuture<JsonObject> fleet() {
        return CompletableFuture.supplyAsync(
                () -> JsonObject.EMPTY.with("rows", new JsonArray(new ArrayList<JsonValue>(rows.values()))), loop);
    }

    @Override
    public CompletableFuture<JsonObject> status() {
        return CompletableFuture.supplyAsync(this::counted, loop);
    }

    private JsonObject counted() {
        long unknown = count("unknown");
        long notReady = count("notReady");
        JsonObject.Builder sight = JsonObject.builder()
                .put("sees", blindness.isEmpty())
                .put("canaryAgeMs", blindness.isPresent() ? 42_300 : 240)
                .put("toleranceMs", 10_000);
        blindness.ifPresent(words -> sight.put("blindness", words).put("hop", "API server"));
        JsonObject lag = Json.parseObject("""
                {"gaps":{"count":5000,"p50Millis":10004,"p99Millis":10350,"maxMillis":14200},
                "lags":{"count":5000,"p50Millis":21,"p99Millis":180,"maxMillis":910},
                "graceMillis":50000,"advice":"the grace of 50s is comfortable"}""");
        return JsonObject.builder()
                .put("at", loop.clock().wallTime().toString())
                .put("sight", sight.build())
                .put("lag", lag)
                .put("nodes", rows.size())
                .put("ready", rows.size() - unknown - notReady)
                .put("notReady", notReady)
                .put("unknown", unknown)
                .put("next", next.isEmpty() ? JsonArray.EMPTY : JsonArray.of(next))
                .build();
    }

    private long count(String state) {
        return rows.values().stream()
                .filter(row -> row.strings().toList().get(2).equals(state))
                .count();
    }

    @Override
    public CompletableFuture<JsonObject> nodes() {
        return CompletableFuture.completedFuture(JsonObject.EMPTY);
    }

    @Override
    public CompletableFuture<JsonObject> sight() {
        return CompletableFuture.completedFuture(JsonObject.EMPTY);
    }

    @Override
    public CompletableFuture<JsonObject> lag() {
        return CompletableFuture.completedFuture(JsonObject.EMPTY);
    }

    @Override
    public CompletableFuture<Optional<String>> unready() {
        return CompletableFuture.completedFuture(Optional.empty());
    }
}
