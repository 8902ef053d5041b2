package io.nodekeeper.controller.pods;

import io.nodekeeper.api.ApiException;
import io.nodekeeper.api.KubeTime;
import io.nodekeeper.api.Node;
import io.nodekeeper.api.ResourceType;
import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonArray;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.api.json.JsonValue;
import io.nodekeeper.api.patch.StrategicMergePatch;
import io.nodekeeper.api.schema.Schemas;
import io.nodekeeper.client.Call;
import io.nodekeeper.client.DelayedTransport;
import io.nodekeeper.client.FakeTransport;
import io.nodekeeper.client.KubeClient;
import io.nodekeeper.client.Reply;
import io.nodekeeper.client.workqueue.PriorityWorkQueue;
import io.nodekeeper.controller.config.WorkloadConfig;
import io.nodekeeper.controller.history.Decision;
import io.nodekeeper.controller.metrics.ControllerMetrics;
import io.nodekeeper.time.Randoms;
import io.nodekeeper.time.VirtualTime;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * An API server in virtual time with nodes, pods and leases, and one process after another that runs a workload on it.
 * This class plays the rest of the controller: it passes nodes to the workload immediately.
 */
final class PodWorld {
    static final Instant B = Instant.parse("2015-01-01T12:00:00Z");
    static final String NOT_READY = "node.kubernetes.io/not-ready";
    static final String UNREACHABLE = "node.kubernetes.io/unreachable";

    final VirtualTime time = new VirtualTime(B);
    final List<String> events = new ArrayList<>();
    final List<Decision> decisions = new ArrayList<>();
    /** Deletions that took effect, as {@code uid@seconds}, with {@code!} at once. */
    final List<String> deletions = new ArrayList<>();
    /** All calls of all processes, as {@code METHOD target}. */
    final List<String> calls = new ArrayList<>();

    final ControllerMetrics metrics = new ControllerMetrics();
    /** Called before each answer; a value is the answer. */
    Function<Call, Optional<Reply>> fault = call -> Optional.empty();
    /** How long the answer to a call is on its way. */
    Function<Call, Duration> latency = call -> Duration.ZERO;
    /** Called when a call took effect and before its answer goes out. */
    Runnable afterwards = () -> {};
    /** Called before each event and decision. */
    Runnable reporting = () -> {};
    /** The workload receives no changes of nodes. */
    boolean nodeWatchStalled;
    /** The workload receives no changes of pods. */
    boolean podWatchStalled;

    private final WorkloadConfig config;
    private final Map<String, JsonObject> nodes = new TreeMap<>();
    private final Map<String, JsonObject> pods = new TreeMap<>();
    private final Map<String, JsonObject> leases = new TreeMap<>();
    private int version = 100;

    private @Nullable Process process;

    /** One run of the controller. */
    private record Process(
            FakeTransport transport, VirtualTime.VirtualLoop loop, Workload workload, PriorityWorkQueue workQueue) {}

    PodWorld() {
        this(WorkloadConfig.DEFAULT);
    }

    PodWorld(WorkloadConfig config) {
        this.config = config;
    }

    // The controller.

    PodWorld start() {
        FakeTransport transport = new FakeTransport();
        transport.answer(this::serve);
        VirtualTime.VirtualLoop loop = time.loop("controller");
        PriorityWorkQueue workQueue = new PriorityWorkQueue(64);
        Workload workload = new Workload(
                config,
                new KubeClient(
                        new DelayedTransport(transport, time.loop("network"), call -> latency.apply(call)),
                        loop,
                        Duration.ofSeconds(10)),
                workQueue,
                component -> (about, type, reason, message) -> {
                    reporting.run();
                    events.add(component + " " + type + " " + reason + " " + about.kind() + " " + about.namespace()
                            + "/" + about.name() + ": " + message);
                },
                Randoms.seeded(1),
                metrics,
                decision -> {
                    reporting.run();
                    decisions.add(decision);
                });
        process = new Process(transport, loop, workload, workQueue);
        workload.start();
        loop.execute(() -> {
            nodes.values().forEach(node -> workload.nodeSeen(new Node(node)));
            leases.keySet().forEach(workload::leaseSeen);
            workload.nodesListed();
        });
        advance(Duration.ZERO);
        return this;
    }

    boolean running() {
        return process != null;
    }

    /** kill -9. */
    void kill() {
        if (process != null) {
            process.loop.close();
            process = null;
        }
    }

    /** The controller gives up its work, as at the end of its lead. */
    void stop() {
        Process running = Objects.requireNonNull(process);
        running.loop.execute(() -> {
            running.workQueue.close();
            running.workload.stop();
        });
        advance(Duration.ZERO);
    }

    void freeze() {
        if (process != null) {
            process.loop.freeze();
        }
    }

    void thaw() {
        if (process != null) {
            process.loop.thaw();
        }
    }

    void skewWallClock(Duration skew) {
        if (process != null) {
            process.loop.skewWallClock(skew);
        }
    }

    /** This process declares the node Unknown. */
    void silence(String name) {
        ready(name, "Unknown", time.wallTime());
        tell(workload -> workload.nodeWentSilent(name, new Node(found(nodes, ResourceType.NODES, name)).uid()));
    }

    void advance(Duration duration) {
        time.advance(duration);
    }

    void advanceTo(String sinceB) {
        advance(Duration.parse("PT" + sinceB).minus(time.elapsed()));
    }

    // What others do.

    void addNode(String name) {
        addNode(name, name + "-uid");
    }

    void addNode(String name, String uid) {
        storeNode(JsonObject.builder()
                .put(
                        "metadata",
                        JsonObject.builder()
                                .put("name", name)
                                .put("uid", uid)
                                .put("creationTimestamp", "2015-01-01T11:00:00Z")
                                .build())
                .put("spec", JsonObject.EMPTY)
                .put("status", JsonObject.EMPTY)
                .build());
        ready(name, "True", B.minusSeconds(3000));
    }

    void deleteNode(String name) {
        Node last = new Node(found(nodes, ResourceType.NODES, name));
        nodes.remove(name);
        tell(workload -> workload.nodeGone(name, last.uid()));
    }

    void ready(String name, String status, Instant since) {
        JsonObject condition = JsonObject.EMPTY
                .with("type", "Ready")
                .with("status", status)
                .with("lastTransitionTime", KubeTime.format(since));
        changeNode(name, node -> node.update("status", old -> old.with("conditions", JsonArray.of(condition))));
    }

    /** The node has these taints: {@code key:effect} or {@code key:effect@seconds since B}. */
    void taint(String name, String... taints) {
        List<JsonValue> list = new ArrayList<>();
        for (String taint : taints) {
            String[] parts = taint.split("[:@]");
            JsonObject json = JsonObject.EMPTY.with("key", parts[0]).with("effect", parts[1]);
            list.add(
                    parts.length < 3
                            ? json
                            : json.with("timeAdded", KubeTime.format(B.plusSeconds(Long.parseLong(parts[2])))));
        }
        changeNode(name, node -> node.update("spec", spec -> spec.with("taints", new JsonArray(list))));
    }

    private void changeNode(String name, UnaryOperator<JsonObject> change) {
        storeNode(change.apply(found(nodes, ResourceType.NODES, name)));
    }

    private void storeNode(JsonObject node) {
        JsonObject stored = versioned(node);
        nodes.put(new Node(stored).name(), stored);
        if (!nodeWatchStalled) {
            tell(workload -> workload.nodeSeen(new Node(stored)));
        }
    }

    private void tell(Consumer<Workload> news) {
        Process running = process;
        if (running != null) {
            running.loop.execute(() -> news.accept(running.workload));
        }
    }

    /** A pod whose Ready is True since {@code B}−100 s, with these tolerations as JSON. */
    void addPod(String name, String node, String... tolerations) {
        addPodWithUid(name, name + "-uid", node, tolerations);
    }

    void addPodWithUid(String name, String uid, String node, String... tolerations) {
        storePod(
                "ADDED",
                Json.parseObject("{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"" + name
                        + "\",\"namespace\":\"default\",\"uid\":\"" + uid + "\",\"creationTimestamp\":\""
                        + KubeTime.format(time.wallTime()) + "\"},\"spec\":{\"nodeName\":\"" + node
                        + "\",\"tolerations\":[" + String.join(",", tolerations)
                        + "]},\"status\":{\"phase\":\"Running\",\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\","
                        + "\"reason\":\"Fine\",\"lastTransitionTime\":\"2015-01-01T11:58:20Z\"}]}}"));
    }

    static String tolerates(String key, long seconds) {
        return "{\"key\":\"" + key + "\",\"operator\":\"Exists\",\"effect\":\"NoExecute\",\"tolerationSeconds\":"
                + seconds + "}";
    }

    static String tolerates(String key) {
        return "{\"key\":\"" + key + "\",\"operator\":\"Exists\",\"effect\":\"NoExecute\"}";
    }

    void patchPod(String name, String patch) {
        storePod("MODIFIED", StrategicMergePatch.apply(pod(name), Json.parseObject(patch), Schemas.POD));
    }

    void podReady(String name, String status, Instant since) {
        patchPod(
                name,
                "{\"status\":{\"conditions\":[{\"type\":\"Ready\",\"status\":\"" + status
                        + "\",\"lastTransitionTime\":\"" + KubeTime.format(since) + "\"}]}}");
    }

    void tolerate(String name, String... tolerations) {
        patchPod(name, "{\"spec\":{\"tolerations\":[" + String.join(",", tolerations) + "]}}");
    }

    void removePod(String name) {
        JsonObject last = pod(name);
        pods.remove("default/" + name);
        broadcast("DELETED", versioned(last));
    }

    void renew(String name, String... labels) {
        JsonObject metadata = JsonObject.EMPTY.with("name", name).with("uid", name + "-lease-uid");
        for (String label : labels) {
            metadata = metadata.update("labels", old -> old.with(label, ""));
        }
        leases.put(
                name,
                versioned(JsonObject.EMPTY
                        .with("metadata", metadata)
                        .with("spec", JsonObject.EMPTY.with("holderIdentity", name))));
        if (!nodes.containsKey(name)) {
            tell(workload -> workload.leaseSeen(name));
        }
    }

    /** Renews the lease without an event. */
    void renewUnseen(String name) {
        leases.put(name, versioned(found(leases, ResourceType.LEASES, name)));
    }

    // What can be seen.

    List<String> leases() {
        return List.copyOf(leases.keySet());
    }

    JsonObject pod(String name) {
        return found(pods, ResourceType.PODS, "default/" + name);
    }

    /** Conditions of the pod as {@code type=status reason transition}. */
    List<String> conditions(String name) {
        return pod(name)
                .object("status")
                .array("conditions")
                .objects()
                .map(c -> c.text("type") + "=" + c.text("status") + " " + c.text("reason") + " "
                        + c.text("lastTransitionTime"))
                .toList();
    }

    /** The Ready condition of the pod. */
    String podReady(String name) {
        return conditions(name).stream()
                .filter(condition -> condition.startsWith("Ready="))
                .map(condition -> condition.split("[= ]")[1])
                .findFirst()
                .orElse("none");
    }

    List<String> events(String reason) {
        return events.stream()
                .filter(event -> event.contains(" " + reason + " "))
                .toList();
    }

    long calls(String method, String end) {
        return calls.stream()
                .filter(call -> call.startsWith(method + " ") && call.endsWith(end))
                .count();
    }

    /** How many entries the queues and maps of the running process hold. */
    Map<String, Integer> sizes() {
        Process running = Objects.requireNonNull(process);
        Map<String, Integer> sizes = new TreeMap<>(running.workload.sizes());
        sizes.put("waiting jobs", running.workQueue.waiting());
        sizes.put("running jobs", running.workQueue.underWay());
        return sizes;
    }

    /** How many jobs of the running process may be under way. */
    int limit() {
        return Objects.requireNonNull(process).workQueue.limit();
    }

    static Reply unavailable() {
        return FakeTransport.refusal(new ApiException(503, "ServiceUnavailable", "not now"));
    }

    // The server.

    private Optional<Reply> serve(Call call) {
        if (process == null) {
            // What a killed process was about to send.
            return Optional.empty();
        }
        calls.add(call.toString());
        Optional<Reply> wrong = fault.apply(call);
        if (wrong.isPresent()) {
            return wrong;
        }
        Reply reply;
        try {
            reply = FakeTransport.reply(200, answer(call));
        } catch (ApiException refused) {
            reply = FakeTransport.refusal(refused);
        }
        afterwards.run();
        return Optional.of(reply);
    }

    private JsonObject answer(Call call) {
        String[] parts = call.target().split("/");
        JsonObject body = call.body().length == 0 ? JsonObject.EMPTY : Json.parseObject(call.body());
        if (call.target().equals("/api/v1/pods?limit=500")) {
            return JsonObject.builder()
                    .put("metadata", JsonObject.EMPTY.with("resourceVersion", Integer.toString(version)))
                    .put("items", new JsonArray(List.<JsonValue>copyOf(pods.values())))
                    .build();
        }
        if (call.target().startsWith("/api/v1/nodes/")) {
            return found(nodes, ResourceType.NODES, parts[4]);
        }
        if (call.target().contains("/leases/")) {
            JsonObject lease = found(leases, ResourceType.LEASES, parts[parts.length - 1]);
            if (call.method().equals("DELETE")) {
                check(lease, body.object("preconditions"), ResourceType.LEASES);
                leases.remove(parts[parts.length - 1]);
            }
            return lease;
        }
        String key = parts[4] + "/" + parts[6];
        JsonObject pod = found(pods, ResourceType.PODS, key);
        return switch (call.method()) {
            case "GET" -> pod;
            case "PUT" -> {
                check(pod, body.object("metadata"), ResourceType.PODS);
                yield storePod("MODIFIED", pod.with("status", body.object("status")));
            }
            case "PATCH" -> {
                check(pod, body.object("metadata"), ResourceType.PODS);
                yield storePod("MODIFIED", StrategicMergePatch.apply(pod, body, Schemas.POD));
            }
            case "DELETE" -> {
                check(pod, body.object("preconditions"), ResourceType.PODS);
                yield delete(key, pod, body.number("gracePeriodSeconds").orElse(30L));
            }
            default -> throw ApiException.badRequest(call.toString());
        };
    }

    private JsonObject delete(String key, JsonObject pod, long grace) {
        JsonObject metadata = pod.object("metadata");
        String at = metadata.text("uid") + (grace == 0 ? "!" : "") + "@"
                + time.elapsed().toSeconds();
        if (grace == 0) {
            deletions.add(at);
            if (!metadata.array("finalizers").isEmpty()) {
                String now = KubeTime.format(time.wallTime());
                return metadata.has("deletionTimestamp")
                        ? pod
                        : storePod("MODIFIED", pod.update("metadata", old -> old.with("deletionTimestamp", now)));
            }
            pods.remove(key);
            broadcast("DELETED", versioned(pod));
            return pod;
        }
        if (metadata.has("deletionTimestamp")) {
            return pod;
        }
        deletions.add(at);
        String end = KubeTime.format(time.wallTime().plusSeconds(grace));
        return storePod("MODIFIED", pod.update("metadata", old -> old.with("deletionTimestamp", end)));
    }

    private static void check(JsonObject object, JsonObject wanted, ResourceType type) {
        JsonObject metadata = object.object("metadata");
        for (String field : List.of("uid", "resourceVersion")) {
            if (wanted.has(field) && !wanted.text(field).equals(metadata.text(field))) {
                throw ApiException.modified(type, metadata.text("name"));
            }
        }
    }

    private static JsonObject found(Map<String, JsonObject> all, ResourceType type, String name) {
        JsonObject object = all.get(name);
        if (object == null) {
            throw ApiException.notFound(type, name);
        }
        return object;
    }

    private JsonObject storePod(String type, JsonObject pod) {
        JsonObject stored = versioned(pod);
        JsonObject metadata = stored.object("metadata");
        pods.put(metadata.text("namespace") + "/" + metadata.text("name"), stored);
        broadcast(type, stored);
        return stored;
    }

    private JsonObject versioned(JsonObject object) {
        String next = Integer.toString(++version);
        return object.update("metadata", metadata -> metadata.with("resourceVersion", next));
    }

    private void broadcast(String event, JsonObject object) {
        if (process != null && !podWatchStalled) {
            for (FakeTransport.Watch watch : List.copyOf(process.transport.watches())) {
                if (!watch.cancelled()) {
                    watch.event(event, object);
                }
            }
        }
    }
}
