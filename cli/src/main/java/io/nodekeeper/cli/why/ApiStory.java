package io.nodekeeper.cli.why;

import io.nodekeeper.api.ApiObject;
import io.nodekeeper.api.Condition;
import io.nodekeeper.api.Failures;
import io.nodekeeper.api.KubeTime;
import io.nodekeeper.api.Lease;
import io.nodekeeper.api.Node;
import io.nodekeeper.api.ResourceType;
import io.nodekeeper.api.Taint;
import io.nodekeeper.api.json.JsonArray;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.client.KubeClient;
import io.nodekeeper.controller.history.Decision;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/** Reads what the API shows about a node: its conditions, taints and their times, lease, and events. Events expire. */
final class ApiStory {
    private ApiStory() {}

    /** Reads the story; empty if the node does not exist. */
    static CompletableFuture<Story> read(KubeClient client, String name, List<String> notes) {
        CompletableFuture<JsonObject> node = orEmpty(client.get(ResourceType.NODES, "", name));
        CompletableFuture<JsonObject> lease = orEmpty(client.get(ResourceType.LEASES, Lease.NODE_NAMESPACE, name));
        CompletableFuture<JsonObject> events = client.list(
                ResourceType.EVENTS, "", "fieldSelector=involvedObject.kind%3DNode%2CinvolvedObject.name%3D" + name);
        return CompletableFuture.allOf(node, lease, events)
                .thenApply(read -> of(name, notes, new Node(node.join()), new Lease(lease.join()), events.join()));
    }

    /** The story in these objects; {@code node} and {@code lease} may be empty. */
    static Story of(String name, List<String> notes, Node node, Lease lease, JsonObject events) {
        List<Decision> told = new ArrayList<>();
        for (Condition condition : node.conditions()) {
            condition
                    .lastTransitionTime()
                    .ifPresent(at -> told.add(new Decision(
                            at,
                            name,
                            node.uid(),
                            condition.type() + "=" + condition.status(),
                            condition.reason() + ": " + condition.message(),
                            JsonObject.EMPTY)));
        }
        for (Taint taint : node.taints()) {
            KubeTime.parse(taint.json().text("timeAdded"))
                    .ifPresent(at -> told.add(new Decision(
                            at, name, node.uid(), "Tainted", taint.key() + ":" + taint.effect(), JsonObject.EMPTY)));
        }
        events.array("items")
                .objects()
                .forEach(event -> time(event)
                        .ifPresent(at -> told.add(new Decision(
                                at,
                                name,
                                event.object("involvedObject").text("uid"),
                                "Event " + event.text("reason"),
                                event.text("message") + " ("
                                        + event.object("source").text("component")
                                        + event.number("count")
                                                .filter(count -> count > 1)
                                                .map(count -> ", " + count + " times")
                                                .orElse("")
                                        + ")",
                                JsonObject.EMPTY))));
        told.sort(Comparator.comparing(Decision::at));
        return new Story(name, "the API", notes, facts(node, lease), told);
    }

    private static JsonObject facts(Node node, Lease lease) {
        if (node.json().isEmpty()) {
            return JsonObject.EMPTY;
        }
        JsonObject.Builder facts = JsonObject.builder()
                .put("uid", node.uid())
                .put("ready", node.ready().map(Condition::status).orElse("never reported"));
        node.ready()
                .ifPresent(ready -> facts.putUnlessEmpty(
                        "lastStatusByItsClock", ready.json().text("lastHeartbeatTime")));
        facts.put(
                "lastLeaseByItsClock",
                lease.renewTime().map(KubeTime::formatMicro).orElse("it has none"));
        return facts.put(
                        "taints",
                        JsonArray.ofStrings(node.taints().stream()
                                .map(taint -> taint.key() + ":" + taint.effect())
                                .toList()))
                .build();
    }

    private static Optional<Instant> time(JsonObject event) {
        return KubeTime.parse(event.text("lastTimestamp"))
                .or(() -> KubeTime.parse(event.text("eventTime")))
                .or(() -> new Anything(event).creationTimestamp());
    }

    private record Anything(JsonObject json) implements ApiObject {}

    private static CompletableFuture<JsonObject> orEmpty(CompletableFuture<JsonObject> read) {
        return read.exceptionallyCompose(error -> Failures.isCode(error, 404)
                ? CompletableFuture.completedFuture(JsonObject.EMPTY)
                : CompletableFuture.failedFuture(error));
    }
}
