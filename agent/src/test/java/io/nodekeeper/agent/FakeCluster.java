package io.nodekeeper.agent;

import io.nodekeeper.agent.heartbeat.NodeSource;
import io.nodekeeper.api.ApiException;
import io.nodekeeper.api.Lease;
import io.nodekeeper.api.Node;
import io.nodekeeper.api.ResourceType;
import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.api.patch.StrategicMergePatch;
import io.nodekeeper.api.schema.Schemas;
import io.nodekeeper.client.Call;
import io.nodekeeper.client.FakeTransport;
import io.nodekeeper.client.KubeClient;
import io.nodekeeper.client.Reply;
import io.nodekeeper.time.Randoms;
import io.nodekeeper.time.VirtualTime;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.random.RandomGenerator;

/** An API server with at most one node and its lease, in virtual time, whose cache is always fresh. */
public final class FakeCluster implements NodeSource {
    public static final String NODES = "/api/v1/nodes";
    public static final String NODE = NODES + "/n1";
    public static final String STATUS = NODE + "/status";
    public static final String LEASES = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases";
    public static final String LEASE = LEASES + "/n1";

    public final VirtualTime time = new VirtualTime(Instant.parse("2026-01-01T00:00:00Z"));
    public final VirtualTime.VirtualLoop loop = time.loop("agent");
    public final FakeTransport transport = new FakeTransport();
    public final KubeClient client = new KubeClient(transport, loop, Duration.ofSeconds(10));
    public final List<String> events = new ArrayList<>();
    /** All calls, as {@code seconds METHOD target}. */
    public final List<String> timed = new ArrayList<>();
    /** {@code METHOD target} → the status of the refusal; -1 never answers. */
    public final Map<String, Integer> refusals = new HashMap<>();

    private final List<Consumer<Node>> listeners = new ArrayList<>();
    public Optional<Node> node = Optional.empty();
    public Optional<Lease> lease = Optional.empty();
    public boolean cacheEmpty;
    public int repeatedFailures;
    public RandomGenerator random = Randoms.seeded(1);
    private int uid;

    public FakeCluster() {
        Function<Call, Optional<Reply>> server = call -> {
            timed.add(time.elapsed().toMillis() / 1000.0 + " " + call);
            int refusal = refusals.getOrDefault(call.toString(), 0);
            if (refusal != 0) {
                return refusal < 0
                        ? Optional.empty()
                        : Optional.of(FakeTransport.refusal(new ApiException(refusal, "", "told to refuse")));
            }
            try {
                return Optional.of(FakeTransport.reply(200, serve(call)));
            } catch (ApiException e) {
                return Optional.of(FakeTransport.refusal(e));
            }
        };
        transport.answer(server);
    }

    public AgentPorts ports() {
        return new AgentPorts(
                client,
                client,
                loop,
                this,
                (about, type, reason, message) -> events.add(type + " " + reason + " " + message),
                random,
                "v1.36.0-test",
                () -> repeatedFailures++);
    }

    @Override
    public Optional<Node> node(String name) {
        return cacheEmpty ? Optional.empty() : node;
    }

    @Override
    public void listen(String name, Consumer<Node> listener) {
        listeners.add(listener);
    }

    public void store(Node stored) {
        node = Optional.of(stored);
    }

    /** Stores the write of another client, and delivers it in the watch. */
    public void show(Node stored) {
        store(stored);
        listeners.forEach(listener -> listener.accept(stored));
    }

    public void refuse(String call, int code) {
        refusals.put(call, code);
    }

    public void advance(Duration duration) {
        time.advance(duration);
    }

    public List<String> log() {
        return transport.log();
    }

    /** The number of such calls. */
    public long count(String call) {
        return transport.log().stream().filter(call::equals).count();
    }

    public JsonObject body(int call) {
        return Json.parseObject(transport.calls().get(call).body());
    }

    private JsonObject serve(Call call) {
        return switch (call.toString()) {
            case "POST " + NODES -> {
                if (node.isPresent()) {
                    throw ApiException.alreadyExists(ResourceType.NODES, "n1");
                }
                uid++;
                node = Optional.of(new Node(Json.parseObject(call.body())
                        .update("metadata", metadata -> metadata.with("uid", "uid-" + uid))));
                yield node.get().json();
            }
            case "GET " + NODE -> existing().json();
            case "PATCH " + STATUS -> {
                node = Optional.of(new Node(
                        StrategicMergePatch.apply(existing().json(), Json.parseObject(call.body()), Schemas.NODE)));
                yield node.get().json();
            }
            case "POST " + LEASES -> version(Json.parseObject(call.body()), "1");
            case "GET " + LEASE ->
                lease.orElseThrow(() -> ApiException.notFound(ResourceType.LEASES, "n1"))
                        .json();
            case "PUT " + LEASE -> {
                Lease sent = new Lease(Json.parseObject(call.body()));
                String at = lease.orElseThrow(() -> ApiException.notFound(ResourceType.LEASES, "n1"))
                        .resourceVersion();
                if (!at.equals(sent.resourceVersion())) {
                    throw ApiException.modified(ResourceType.LEASES, "n1");
                }
                yield version(sent.json(), Integer.toString(Integer.parseInt(at) + 1));
            }
            default -> throw new AssertionError("nobody should call " + call);
        };
    }

    private Node existing() {
        return node.orElseThrow(() -> ApiException.notFound(ResourceType.NODES, "n1"));
    }

    private JsonObject version(JsonObject object, String version) {
        lease = Optional.of(
                new Lease(object.update("metadata", metadata -> metadata.with("resourceVersion", version))));
        return lease.get().json();
    }
}
