package io.nodekeeper.controller;

import io.nodekeeper.api.ApiException;
import io.nodekeeper.api.Condition;
import io.nodekeeper.api.KubeTime;
import io.nodekeeper.api.Node;
import io.nodekeeper.api.ResourceType;
import io.nodekeeper.api.Taint;
import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonArray;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.api.json.JsonValue;
import io.nodekeeper.client.Call;
import io.nodekeeper.client.DelayedTransport;
import io.nodekeeper.client.FakeTransport;
import io.nodekeeper.client.KubeClient;
import io.nodekeeper.client.Reply;
import io.nodekeeper.client.TransportException;
import io.nodekeeper.controller.config.ControllerConfig;
import io.nodekeeper.controller.history.Decision;
import io.nodekeeper.controller.metrics.ControllerMetrics;
import io.nodekeeper.controller.observer.CanaryLease;
import io.nodekeeper.time.Randoms;
import io.nodekeeper.time.VirtualTime;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;

/**
 * An API server in virtual time with nodes, leases and {@link TestPods pods}, versions and conflicts, lists and
 * watches, and a controller. The test chooses the faults. A watch delivers what happens after it was opened, and what a
 * stalled watch before it did not deliver.
 */
public final class TestCluster {
    /** The beginning of time, and the creation of old nodes. */
    public static final Instant B = Instant.parse("2015-01-01T12:00:00Z");

    public static final Instant K = Instant.parse("2012-01-01T00:00:00Z");

    public static final ControllerConfig CONFIG =
            new ControllerConfig(Duration.ofSeconds(5), Duration.ofSeconds(50), Duration.ofSeconds(60));

    public final VirtualTime time = new VirtualTime(B);
    public final VirtualTime.VirtualLoop loop = time.loop("controller");
    public final FakeTransport transport = new FakeTransport();
    public final List<String> events = new ArrayList<>();
    public final List<Decision> decisions = new ArrayList<>();
    public final ControllerPorts ports;
    public final Controller controller;

    /** Called before each answer; a value is the answer. */
    public Function<Call, Optional<Reply>> fault = call -> Optional.empty();
    /** How long the answer to a call is on its way. */
    public Function<Call, Duration> latency = call -> Duration.ZERO;
    /** Called after each call took effect and before its answer goes out. */
    public Consumer<Call> afterwards = call -> {};
    /** Called before each decision. */
    public Consumer<Decision> deciding = decision -> {};
    /** The server cannot be reached. */
    public boolean down;
    /** The server takes requests and never answers. */
    public boolean hung;
    /** The watch delivers canaries, but no renewals. */
    public boolean renewalsUntold;
    /** Lease events are not sent. */
    public boolean leaseWatchFrozen;
    /** What becomes of an event of a watch, as JSON, on its way. */
    public UnaryOperator<String> wire = UnaryOperator.identity();
    /** Versions begin with it. */
    public String versionPrefix = "";
    /** Which calls are taken and never answered. */
    public Predicate<Call> hangs = call -> false;

    public final TestPods pods = new TestPods(this);

    private final Map<String, JsonObject> nodes = new TreeMap<>();
    private final Map<String, JsonObject> leases = new TreeMap<>();
    private final List<FakeTransport.Watch> broken = new ArrayList<>();
    private final List<Event> untold = new ArrayList<>();
    private Optional<JsonObject> canary = Optional.empty();
    private boolean stalled;
    private int version = 100;

    private record Event(ResourceType type, String kind, JsonObject object) {}

    public TestCluster() {
        this(CONFIG);
    }

    public TestCluster(ControllerConfig config) {
        transport.answer(this::serve);
        transport.opened(this::catchUp);
        ports = new ControllerPorts(
                new KubeClient(
                        new DelayedTransport(transport, time.loop("network"), call -> latency.apply(call)),
                        loop,
                        Duration.ofSeconds(10)),
                loop,
                component -> (about, type, reason, message) ->
                        events.add(type + " " + reason + " " + about.kind() + " " + about.uid() + ": " + message),
                Randoms.seeded(1),
                new ControllerMetrics(),
                decision -> {
                    deciding.accept(decision);
                    decisions.add(decision);
                });
        controller = new Controller(config, ports);
    }

    public TestCluster start() {
        controller.start();
        advance(Duration.ZERO);
        return this;
    }

    public void advance(Duration duration) {
        time.advance(duration);
    }

    public void advanceTo(String sinceB) {
        advance(Duration.parse("PT" + sinceB).minus(time.elapsed()));
    }

    // What agents and users do.

    public void addNode(String name, Instant created, Condition... conditions) {
        addNode(name, name + "-uid", created, conditions);
    }

    public void addNode(String name, String uid, Instant created, Condition... conditions) {
        JsonObject node = JsonObject.builder()
                .put("kind", "Node")
                .put("apiVersion", "v1")
                .put(
                        "metadata",
                        JsonObject.builder()
                                .put("name", name)
                                .put("uid", uid)
                                .put("creationTimestamp", KubeTime.format(created))
                                .build())
                .put("spec", JsonObject.EMPTY)
                .put("status", JsonObject.EMPTY.with("capacity", JsonObject.EMPTY.with("cpu", "10")))
                .build();
        storeNode(
                "ADDED",
                conditions.length == 0
                        ? node
                        : new Node(node).withConditions(List.of(conditions)).json());
    }

    public void deleteNode(String name) {
        JsonObject last = node(name).json();
        nodes.remove(name);
        broadcast(ResourceType.NODES, "DELETED", versioned(last));
    }

    public void change(String name, UnaryOperator<JsonObject> change) {
        storeNode("MODIFIED", change.apply(node(name).json()));
    }

    /** The agent posts these conditions, in place of those of their types. */
    public void post(String name, Condition... conditions) {
        change(name, json -> {
            Map<String, Condition> all = new LinkedHashMap<>();
            new Node(json).conditions().forEach(condition -> all.put(condition.type(), condition));
            for (Condition condition : conditions) {
                all.put(condition.type(), condition);
            }
            return new Node(json).withConditions(List.copyOf(all.values())).json();
        });
    }

    /** The agent renews its lease, or creates it. */
    public void renew(String name, Instant renewTime) {
        renew(name, renewTime, "");
    }

    /** A client renews or creates the node's lease. */
    public void renew(String name, Instant renewTime, String holder) {
        boolean there = leases.containsKey(name);
        JsonObject lease = versioned(JsonObject.builder()
                .put("metadata", JsonObject.EMPTY.with("name", name).with("namespace", "kube-node-lease"))
                .put(
                        "spec",
                        JsonObject.builder()
                                .put("renewTime", KubeTime.formatMicro(renewTime))
                                .putUnlessEmpty("holderIdentity", holder)
                                .build())
                .build());
        leases.put(name, lease);
        if (!leaseWatchFrozen && !renewalsUntold) {
            broadcast(ResourceType.LEASES, there ? "MODIFIED" : "ADDED", lease);
        }
    }

    /** A client changes the node's lease. */
    public void changeLease(String name, UnaryOperator<JsonObject> change) {
        JsonObject lease = versioned(change.apply(lease(name)));
        leases.put(name, lease);
        if (!leaseWatchFrozen && !renewalsUntold) {
            broadcast(ResourceType.LEASES, "MODIFIED", lease);
        }
    }

    /** Replaces the node's lease, including its version, without a watch event. */
    public void restoreLease(String name, JsonObject lease) {
        leases.put(name, lease);
    }

    public void deleteLease(String name) {
        JsonObject last = lease(name);
        leases.remove(name);
        broadcast(ResourceType.LEASES, "DELETED", versioned(last));
    }

    public JsonObject lease(String name) {
        return found(leases, ResourceType.LEASES, name);
    }

    /** Every watch breaks and its history is lost: reflectors must list again. */
    public void loseHistory() {
        for (FakeTransport.Watch watch : List.copyOf(transport.watches())) {
            if (!broken.contains(watch)) {
                watch.event("ERROR", new ApiException(410, "Expired", "too old resource version").toStatus());
                broken.add(watch);
                watch.end();
            }
        }
    }

    /** The watches under way tell nothing more, their connections stay open; new ones tell what these did not. */
    public void stallWatches() {
        stalled = true;
        transport.watches().stream().filter(watch -> !broken.contains(watch)).forEach(broken::add);
    }

    // What can be seen.

    public Node node(String name) {
        return new Node(found(nodes, ResourceType.NODES, name));
    }

    public String ready(String name) {
        return node(name).ready().map(Condition::status).orElse("none");
    }

    /** Conditions as {@code type=status reason heartbeat transition}. */
    public List<String> conditions(String name) {
        return node(name).conditions().stream()
                .map(c -> c.type() + "=" + c.status() + " " + c.reason() + " "
                        + c.json().text("lastHeartbeatTime") + " " + c.json().text("lastTransitionTime"))
                .toList();
    }

    /** Taints as {@code key:effect}. */
    public List<String> taints(String name) {
        return node(name).taints().stream()
                .map(taint -> taint.key() + ":" + taint.effect())
                .toList();
    }

    /** Keys of its NoSchedule taints. */
    public List<String> noSchedule(String name) {
        return node(name).taints().stream()
                .filter(taint -> taint.effect().equals(Taint.NO_SCHEDULE))
                .map(Taint::key)
                .toList();
    }

    /** How many calls of that method on targets with that end there were. */
    public long calls(String method, String end) {
        return transport.calls().stream()
                .filter(call -> call.method().equals(method) && call.target().endsWith(end))
                .count();
    }

    /** The value of a metric with these labels. */
    public String metric(String name) {
        return new String(ports.metrics().scrape(), StandardCharsets.UTF_8)
                .lines()
                .filter(line -> line.startsWith(name + " "))
                .map(line -> line.substring(name.length() + 1))
                .findFirst()
                .orElse("none");
    }

    /** Decisions of that kind, as {@code time node: text}. */
    public List<String> decisions(String kind) {
        return decisions.stream()
                .filter(decision -> decision.kind().equals(kind))
                .map(decision -> decision.at() + " " + decision.node() + ": " + decision.text())
                .toList();
    }

    /** What the controller knows of a node. */
    public JsonObject facts(String name) {
        CompletableFuture<Optional<JsonObject>> facts = controller.view().node(name);
        advance(Duration.ZERO);
        return facts.join().orElseThrow();
    }

    public List<String> events(String reason) {
        return events.stream()
                .filter(event -> event.contains(" " + reason + " "))
                .toList();
    }

    public static Condition ready(String status, Instant heartbeat) {
        return condition("Ready", status, heartbeat);
    }

    public static Condition condition(String type, String status, Instant heartbeat) {
        return Condition.of(type, status, "KubeletSays", "kubelet says so", heartbeat, heartbeat);
    }

    public static Reply internalError() {
        return FakeTransport.refusal(new ApiException(500, "InternalError", "etcdserver: request timed out"));
    }

    // The server.

    private Optional<Reply> serve(Call call) {
        if (down) {
            throw new TransportException("connection refused", null);
        }
        if (hung || hangs.test(call)) {
            return Optional.empty();
        }
        return fault.apply(call).or(() -> {
            try {
                JsonObject answer = answer(call);
                afterwards.accept(call);
                return Optional.of(FakeTransport.reply(200, answer));
            } catch (ApiException refused) {
                return Optional.of(FakeTransport.refusal(refused));
            }
        });
    }

    private JsonObject answer(Call call) {
        String path = call.target().split("\\?")[0];
        String leasesPath = ResourceType.LEASES.path("kube-node-lease");
        if (path.equals("/version")) {
            return JsonObject.EMPTY;
        }
        if (path.equals(ResourceType.PODS.path())) {
            return list(pods.all());
        }
        if (path.contains("/pods/")) {
            return pods.answer(call, path);
        }
        if (path.equals(ResourceType.NODES.path())) {
            return list(nodes.values());
        }
        String[] parts = path.split("/");
        if (path.equals(leasesPath)) {
            List<JsonObject> all = new ArrayList<>(leases.values());
            canary.ifPresent(all::add);
            return list(all);
        }
        if (path.startsWith(leasesPath) && call.method().equals("PATCH")) {
            return canary(call);
        }
        if (path.startsWith(leasesPath)) {
            return found(leases, ResourceType.LEASES, parts[parts.length - 1]);
        }
        String name = parts[4];
        JsonObject stored = found(nodes, ResourceType.NODES, name);
        if (call.method().equals("GET")) {
            return stored;
        }
        JsonObject body = Json.parseObject(call.body());
        if (call.method().equals("PATCH") && path.endsWith("/status")) {
            return patchConditions(name, body);
        }
        if (body.object("metadata").has("labels")) {
            JsonObject labels = body.object("metadata").object("labels");
            return storeNode("MODIFIED", label(stored, labels.texts()));
        }
        if (!body.object("metadata").text("resourceVersion").equals(node(name).resourceVersion())) {
            throw ApiException.modified(ResourceType.NODES, name);
        }
        return switch (call.method()) {
            case "PUT" -> storeNode("MODIFIED", stored.with("status", body.object("status")));
            case "PATCH" ->
                storeNode(
                        "MODIFIED",
                        stored.update(
                                "spec",
                                spec -> spec.with("taints", body.object("spec").array("taints"))));
            default -> throw ApiException.badRequest(call.toString());
        };
    }

    private JsonObject patchConditions(String name, JsonObject patch) {
        if (!patch.object("metadata").text("uid").equals(node(name).uid())) {
            throw ApiException.modified(ResourceType.NODES, name);
        }
        post(
                name,
                patch.object("status")
                        .array("conditions")
                        .objects()
                        .map(Condition::new)
                        .toArray(Condition[]::new));
        return node(name).json();
    }

    /** The canary is written, and delivered by the watch unless that is frozen. */
    private JsonObject canary(Call call) {
        JsonObject lease = versioned(
                Json.parseObject(call.body()).update("metadata", metadata -> metadata.with("name", CanaryLease.NAME)));
        canary = Optional.of(lease);
        if (!leaseWatchFrozen) {
            broadcast(ResourceType.LEASES, "MODIFIED", lease);
        }
        return lease;
    }

    private static JsonObject found(Map<String, JsonObject> all, ResourceType type, String name) {
        JsonObject object = all.get(name);
        if (object == null) {
            throw ApiException.notFound(type, name);
        }
        return object;
    }

    private JsonObject list(Collection<JsonObject> all) {
        return JsonObject.builder()
                .put("metadata", JsonObject.EMPTY.with("resourceVersion", versionPrefix + version))
                .put("items", new JsonArray(List.<JsonValue>copyOf(all)))
                .build();
    }

    private JsonObject storeNode(String type, JsonObject node) {
        JsonObject stored = versioned(node);
        nodes.put(new Node(stored).name(), stored);
        broadcast(ResourceType.NODES, type, stored);
        return stored;
    }

    public JsonObject versioned(JsonObject object) {
        String next = versionPrefix + ++version;
        return object.update("metadata", metadata -> metadata.with("resourceVersion", next));
    }

    public void broadcast(ResourceType type, String event, JsonObject object) {
        if (stalled) {
            untold.add(new Event(type, event, object));
        }
        for (FakeTransport.Watch watch : List.copyOf(transport.watches())) {
            if (!broken.contains(watch)) {
                tell(watch, new Event(type, event, object));
            }
        }
    }

    private void catchUp(FakeTransport.Watch watch) {
        untold.forEach(event -> tell(watch, event));
    }

    private void tell(FakeTransport.Watch watch, Event event) {
        if (watch.call().target().contains("/" + event.type.plural() + "?watch")) {
            JsonObject json = JsonObject.builder()
                    .put("type", event.kind)
                    .put("object", event.object)
                    .build();
            watch.line(wire.apply(Json.write(json)));
        }
    }

    public static JsonObject cordon(JsonObject node, boolean unschedulable) {
        return node.update(
                "spec",
                spec -> unschedulable
                        ? spec.toBuilder().put("unschedulable", true).build()
                        : spec.without("unschedulable"));
    }

    public static JsonObject label(JsonObject node, Map<String, String> labels) {
        return node.update(
                "metadata",
                metadata -> metadata.update("labels", old -> {
                    JsonObject.Builder all = old.toBuilder();
                    labels.forEach(all::put);
                    return all.build();
                }));
    }

    public static JsonObject taint(JsonObject node, String key, String effect) {
        return node.update(
                "spec",
                spec -> spec.with(
                        "taints",
                        spec.array("taints").plus(Taint.of(key, effect, B).json())));
    }
}
