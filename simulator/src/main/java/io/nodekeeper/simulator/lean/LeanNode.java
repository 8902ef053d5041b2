package io.nodekeeper.simulator.lean;

import io.nodekeeper.api.Condition;
import io.nodekeeper.api.KubeTime;
import io.nodekeeper.api.Lease;
import io.nodekeeper.api.ResourceType;
import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonArray;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.api.json.JsonValue;
import io.nodekeeper.apiserver.request.ApiRequest;
import io.nodekeeper.apiserver.request.ApiResponse;
import io.nodekeeper.apiserver.request.User;
import io.nodekeeper.simulator.network.ServerCore;
import io.nodekeeper.simulator.network.SimNetwork;
import io.nodekeeper.time.VirtualTime;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

/**
 * A node without an agent: it posts a status once and renews its lease, directly in the API server, so that a hundred
 * thousand of them fit into one process. Confined to virtual time.
 */
final class LeanNode {
    /** The renewal interval: Kubernetes' default, a quarter of the lease's 40 s. */
    static final Duration RENEWAL = Duration.ofSeconds(10);

    private static final Map<String, String> HEADERS =
            Map.of("accept", "application/json", "content-type", "application/json");
    private static final List<String> PRESSURES =
            List.of(Condition.MEMORY_PRESSURE, Condition.DISK_PRESSURE, Condition.PID_PRESSURE);

    private final String name;
    private final VirtualTime.VirtualLoop loop;
    private final SimNetwork network;
    private final Consumer<String> refused;
    private boolean dead;
    private String leaseVersion = "";
    private long renewals;
    private long renewedAt;

    /** {@code refused} receives answers that a node does not expect; the node then stops. */
    LeanNode(String name, VirtualTime.VirtualLoop loop, SimNetwork network, Consumer<String> refused) {
        this.name = name;
        this.loop = loop;
        this.network = network;
        this.refused = refused;
    }

    /** The number of acknowledged renewals. */
    long renewals() {
        return renewals;
    }

    /** The time of the last acknowledged renewal, nanoseconds. */
    long renewedAt() {
        return renewedAt;
    }

    /** Stops the node. */
    void die() {
        dead = true;
    }

    /** Creates its Node, with a status, and its lease. */
    void register() {
        send("POST", ResourceType.NODES.path(), Json.writeBytes(node()), 201)
                .thenCompose(created -> send("POST", ResourceType.LEASES.path(Lease.NODE_NAMESPACE), lease(), 201))
                .thenAccept(this::renewed);
    }

    private void renewed(byte[] answer) {
        renewedAt = loop.nanoTime();
        leaseVersion = Json.parseObject(answer).object("metadata").text("resourceVersion");
        loop.schedule(RENEWAL, () -> {
            if (!dead) {
                send("PUT", ResourceType.LEASES.path(Lease.NODE_NAMESPACE, name), lease(), 200)
                        .thenAccept(renewal -> {
                            renewals++;
                            renewed(renewal);
                        });
            }
        });
    }

    private CompletableFuture<byte[]> send(String method, String path, byte[] body, int expected) {
        CompletableFuture<byte[]> done = new CompletableFuture<>();
        ApiRequest request = new ApiRequest(
                method,
                path,
                Map.of(),
                HEADERS,
                body,
                Optional.of(User.authenticated("system:node:" + name, List.of("system:nodes"))));
        ServerCore server = network.server().orElseThrow();
        server.core().handle(request).thenAccept(response -> {
            if (response instanceof ApiResponse.Full full && full.status() == expected) {
                done.complete(full.body());
            } else {
                refused.accept(
                        method + " " + path + " was answered with " + response.status() + "; expected " + expected);
            }
        });
        return done;
    }

    private byte[] lease() {
        JsonObject spec = JsonObject.builder()
                .put("holderIdentity", name)
                .put("leaseDurationSeconds", 40)
                .put("renewTime", KubeTime.formatMicro(loop.wallTime()))
                .build();
        return Json.writeBytes(JsonObject.builder()
                .put(
                        "metadata",
                        JsonObject.builder()
                                .put("name", name)
                                .putUnlessEmpty("resourceVersion", leaseVersion)
                                .build())
                .put("spec", spec)
                .build());
    }

    private JsonObject node() {
        Instant now = loop.wallTime();
        List<JsonValue> conditions = new ArrayList<>();
        for (String pressure : PRESSURES) {
            conditions.add(Condition.of(pressure, Condition.FALSE, "KubeletHasNoPressure", "none", now, now)
                    .json());
        }
        conditions.add(Condition.of(
                        Condition.READY, Condition.TRUE, "KubeletReady", "kubelet is posting ready status", now, now)
                .json());
        JsonObject amounts = JsonObject.EMPTY
                .with("cpu", "4")
                .with("memory", "16Gi")
                .with("ephemeral-storage", "100Gi")
                .with("pods", "110");
        JsonObject labels = JsonObject.EMPTY
                .with("kubernetes.io/hostname", name)
                .with("kubernetes.io/os", "linux")
                .with("kubernetes.io/arch", "amd64")
                .with("beta.kubernetes.io/os", "linux")
                .with("beta.kubernetes.io/arch", "amd64");
        return JsonObject.builder()
                .put("metadata", JsonObject.EMPTY.with("name", name).with("labels", labels))
                .put(
                        "status",
                        JsonObject.builder()
                                .put("capacity", amounts)
                                .put("allocatable", amounts)
                                .put("conditions", new JsonArray(conditions))
                                .build())
                .build();
    }
}
