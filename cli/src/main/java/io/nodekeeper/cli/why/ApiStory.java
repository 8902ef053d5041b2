package io.nodekeeper.cli.why;

import io.nodekeeper.agent.culprit.DegradedCondition;
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
import java.util.stream.Stream;

/** Reads what the API shows about a node: its conditions, taints and their times, lease, and events. Events expire. */
final class ApiStory {
    /** The most events: their newest fill some screens, and the API keeps them for an hour. */
    private static final int EVENTS = 200;

    private ApiStory() {}

    /** What was read, or a note on why it is missing: a user who may read nodes may lack the right to leases or events. */
    private record Part(JsonObject json, List<String> notes) {
        static CompletableFuture<Part> of(String what, CompletableFuture<JsonObject> read) {
            return read.handle((json, error) -> error == null
                    ? new Part(json, List.of())
                    : new Part(JsonObject.EMPTY, List.of(what + " missing: " + Failures.text(error) + ".")));
        }
    }

    /** Reads the story; empty if the node does not exist. */
    static CompletableFuture<Story> read(KubeClient client, String name, List<String> notes) {
        CompletableFuture<JsonObject> node = orEmpty(client.get(ResourceType.NODES, "", name));
        CompletableFuture<Part> lease =
                Part.of("The lease is", orEmpty(client.get(ResourceType.LEASES, Lease.NODE_NAMESPACE, name)));
        CompletableFuture<Part> events = Part.of(
                "Events are",
                client.list(
                        ResourceType.EVENTS,
                        "",
                        "fieldSelector=involvedObject.kind%3DNode%2CinvolvedObject.name%3D" + name));
        return CompletableFuture.allOf(node, lease, events)
                .thenApply(read -> of(
                        name,
                        Stream.of(notes, lease.join().notes(), events.join().notes())
                                .flatMap(List::stream)
                                .toList(),
                        new Node(node.join()),
                        lease.join().notes().isEmpty()
                                ? Optional.of(new Lease(lease.join().json()))
                                : Optional.empty(),
                        events.join().json()));
    }

    /** The story in these objects; {@code node} may be empty. {@code lease} is empty if it could not be read. */
    static Story of(String name, List<String> notes, Node node, Optional<Lease> lease, JsonObject events) {
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
        cordon(node).ifPresent(told::add);
        List<JsonObject> all = events.array("items").objects().toList();
        all.subList(Math.max(0, all.size() - EVENTS), all.size())
                .forEach(event -> time(event)
                        .ifPresent(at -> told.add(new Decision(
                                at,
                                name,
                                event.object("involvedObject").text("uid"),
                                Story.EVENT + event.text("reason"),
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

    private static JsonObject facts(Node node, Optional<Lease> lease) {
        if (node.json().isEmpty()) {
            return JsonObject.EMPTY;
        }
        JsonObject.Builder facts = JsonObject.builder()
                .put("uid", node.uid())
                .put("ready", node.ready().map(Condition::status).orElse("never reported"));
        node.ready()
                .ifPresent(ready -> facts.putUnlessEmpty(
                        "lastStatusByItsClock", ready.json().text("lastHeartbeatTime")));
        lease.ifPresent(known -> facts.put(
                "lastLeaseByItsClock",
                known.renewTime().map(KubeTime::formatMicro).orElse("it has none")));
        node.ready()
                .filter(ready -> !ready.status().equals(Condition.TRUE))
                .ifPresent(ready -> facts.put("cause", ready.reason() + ": " + ready.message())
                        .putUnlessEmpty("since", ready.json().text("lastTransitionTime")));
        List<String> problems = problems(node);
        if (!problems.isEmpty()) {
            facts.put("problems", JsonArray.ofStrings(problems));
        }
        load(node).ifPresent(text -> facts.put("load", text));
        if (isCordoned(node)) {
            facts.put("cordoned", cordon(node).map(Decision::text).orElse("cordoned: no new pods"));
        }
        return facts.put(
                        "taints",
                        JsonArray.ofStrings(node.taints().stream()
                                .map(taint -> taint.key() + ":" + taint.effect())
                                .toList()))
                .build();
    }

    /** Each condition that reports a problem: by convention, every one that is True, except Ready. */
    private static List<String> problems(Node node) {
        return node.conditions().stream()
                .filter(condition -> !condition.type().equals(Condition.READY)
                        && condition.status().equals(Condition.TRUE))
                .map(condition -> condition.type() + ": " + condition.message())
                .toList();
    }

    /** What the agent says about load, which makes no condition True. */
    private static Optional<String> load(Node node) {
        return node.conditions().stream()
                .filter(DegradedCondition::tellsLoad)
                .map(condition -> condition.type() + ": " + condition.message())
                .findFirst();
    }

    private static boolean isCordoned(Node node) {
        return node.json().object("spec").bool("unschedulable");
    }

    /** Who cordoned the node and when: the writer that owns the field, if the API server records owners. */
    private static Optional<Decision> cordon(Node node) {
        if (!isCordoned(node)) {
            return Optional.empty();
        }
        return node.metadata()
                .array("managedFields")
                .objects()
                .filter(entry -> entry.object("fieldsV1").object("f:spec").has("f:unschedulable"))
                .findFirst()
                .flatMap(entry -> KubeTime.parse(entry.text("time"))
                        .map(at -> new Decision(
                                at,
                                node.name(),
                                node.uid(),
                                Story.CORDONED,
                                "cordoned by " + entry.text("manager") + ": no new pods",
                                JsonObject.EMPTY)));
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
