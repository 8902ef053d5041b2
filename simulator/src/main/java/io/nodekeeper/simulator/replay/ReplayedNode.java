package io.nodekeeper.simulator.replay;

import io.nodekeeper.api.Condition;
import io.nodekeeper.api.KubeTime;
import io.nodekeeper.api.Lease;
import io.nodekeeper.api.Node;
import io.nodekeeper.api.ResourceType;
import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonArray;
import io.nodekeeper.api.json.JsonNull;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.api.json.JsonValue;
import io.nodekeeper.apiserver.request.ApiRequest;
import io.nodekeeper.apiserver.request.ApiResponse;
import io.nodekeeper.apiserver.request.User;
import io.nodekeeper.client.PatchType;
import io.nodekeeper.simulator.network.SimNetwork;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.stream.Collectors;

/**
 * A node of a recording in a simulated API server: repeats what the real node wrote, and nothing that others wrote. Its
 * writes are sent one after the other, so that they keep their order. Confined to virtual time.
 */
final class ReplayedNode {
    private static final User ADMIN = User.authenticated("kubernetes-admin", List.of("system:masters"));
    private static final String MERGE = PatchType.MERGE.mediaType();
    private static final String BY_TYPE = PatchType.STRATEGIC.mediaType();

    private final String name;
    private final SimNetwork network;
    private final Consumer<String> refused;
    private CompletableFuture<Integer> writes = CompletableFuture.completedFuture(0);
    /** The recorded UID; empty if there is no Node. */
    private String uid = "";

    private JsonObject labels = JsonObject.EMPTY;
    /** The conditions that the node reported last. */
    private JsonArray reported = JsonArray.EMPTY;

    private boolean leased;

    /** {@code refused} receives answers that are not expected. */
    ReplayedNode(String name, SimNetwork network, Consumer<String> refused) {
        this.name = name;
        this.network = network;
        this.refused = refused;
    }

    /** The recorder saw the Node. */
    void seen(Node node) {
        if (!uid.isEmpty() && !node.uid().equals(uid)) {
            gone();
        }
        JsonArray conditions = node.status().array("conditions");
        boolean unknown = node.ready()
                .filter(ready -> ready.status().equals(Condition.UNKNOWN))
                .isPresent();
        JsonObject labelsNow = node.metadata().object("labels");
        if (uid.isEmpty()) {
            uid = node.uid();
            send("POST", ResourceType.NODES.path(), "application/json", created(labelsNow, conditions), 201);
        } else {
            if (!labelsNow.equals(labels)) {
                send("PATCH", ResourceType.NODES.path("", name), MERGE, labelChange(labelsNow), 200);
            }
            // Unknown is what a controller wrote, not the node.
            if (!unknown) {
                report(changed(conditions));
            }
        }
        labels = labelsNow;
        if (!unknown) {
            reported = conditions;
        }
    }

    /** The Node was deleted. */
    void gone() {
        if (!uid.isEmpty()) {
            uid = "";
            reported = JsonArray.EMPTY;
            send("DELETE", ResourceType.NODES.path("", name), "application/json", JsonObject.EMPTY, 200);
        }
    }

    /**
     * The node renewed its lease.
     *
     * @param isUnknown whether the replayed controller has declared it Unknown: a kubelet then writes its status again,
     *     which it would not do for 5 min otherwise
     */
    void renewed(String renewTime, boolean isUnknown, Instant now) {
        JsonObject spec = JsonObject.EMPTY.with(
                "spec", JsonObject.EMPTY.with("holderIdentity", name).with("renewTime", renewTime));
        String path = ResourceType.LEASES.path(Lease.NODE_NAMESPACE, name);
        if (leased) {
            // Deleted with its Node, perhaps.
            after("PATCH", path, MERGE, spec).thenAccept(status -> {
                if (status == 404) {
                    create(spec);
                } else if (status != 200) {
                    refused.accept("PATCH " + path + " was answered with " + status + "; expected 200");
                }
            });
        } else {
            leased = true;
            create(spec);
        }
        if (isUnknown) {
            report(at(reported, now));
        }
    }

    private void create(JsonObject spec) {
        send(
                "POST",
                ResourceType.LEASES.path(Lease.NODE_NAMESPACE),
                "application/json",
                spec.with("metadata", JsonObject.EMPTY.with("name", name)),
                201);
    }

    /** Those that differ from what was reported: a dead node's conditions are not repeated because another part sets its own. */
    private JsonArray changed(JsonArray conditions) {
        Set<JsonObject> before = reported.objects().collect(Collectors.toSet());
        return new JsonArray(conditions
                .objects()
                .filter(condition -> !before.contains(condition))
                .<JsonValue>map(condition -> condition)
                .toList());
    }

    private void report(JsonArray conditions) {
        if (conditions.isEmpty()) {
            return;
        }
        send(
                "PATCH",
                ResourceType.NODES.path("", name) + "/status",
                BY_TYPE,
                JsonObject.EMPTY.with("status", JsonObject.EMPTY.with("conditions", conditions)),
                200);
    }

    private JsonObject created(JsonObject labels, JsonArray conditions) {
        return JsonObject.EMPTY
                .with("metadata", JsonObject.EMPTY.with("name", name).with("labels", labels))
                .with("status", JsonObject.EMPTY.with("conditions", conditions));
    }

    /** A label that is gone is null in a merge patch. */
    private JsonObject labelChange(JsonObject now) {
        JsonObject.Builder change = now.toBuilder();
        for (int i = 0; i < labels.size(); i++) {
            if (!now.has(labels.nameAt(i))) {
                change.put(labels.nameAt(i), JsonNull.NULL);
            }
        }
        return JsonObject.EMPTY.with("metadata", JsonObject.EMPTY.with("labels", change.build()));
    }

    /** The same conditions, heard now. */
    private static JsonArray at(JsonArray conditions, Instant now) {
        return new JsonArray(conditions
                .objects()
                .<JsonValue>map(condition -> condition.with("lastHeartbeatTime", KubeTime.format(now)))
                .toList());
    }

    private void send(String method, String path, String type, JsonObject body, int expected) {
        after(method, path, type, body).thenAccept(status -> {
            if (status != expected) {
                refused.accept(method + " " + path + " was answered with " + status + "; expected " + expected);
            }
        });
    }

    /** Sends a write after all earlier ones have been answered; completes with the status of the answer. */
    private CompletableFuture<Integer> after(String method, String path, String type, JsonObject body) {
        ApiRequest request = new ApiRequest(
                method,
                path,
                Map.of(),
                Map.of("accept", "application/json", "content-type", type),
                Json.writeBytes(body),
                Optional.of(ADMIN));
        writes = writes.thenCompose(
                before -> network.server().orElseThrow().core().handle(request).thenApply(ApiResponse::status));
        return writes;
    }
}
