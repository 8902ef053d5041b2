package io.nodekeeper.controller;

import io.nodekeeper.api.ApiException;
import io.nodekeeper.api.ResourceType;
import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.api.patch.StrategicMergePatch;
import io.nodekeeper.api.schema.Schemas;
import io.nodekeeper.client.Call;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** The pods of a {@link TestCluster}, all in namespace default. */
final class TestPods {
    /** Deletions that took effect, as {@code name@seconds since B}. */
    final List<String> deleted = new ArrayList<>();

    private final TestCluster cluster;
    private final Map<String, JsonObject> pods = new TreeMap<>();

    TestPods(TestCluster cluster) {
        this.cluster = cluster;
    }

    /** A pod that is ready and has Kubernetes' default tolerations. */
    void add(String name, String node) {
        store("ADDED", Json.parseObject("""
                        {"kind":"Pod","apiVersion":"v1",
                         "metadata":{"name":"%s","namespace":"default","uid":"%s-uid",
                          "creationTimestamp":"2015-01-01T11:00:00Z"},
                         "spec":{"nodeName":"%s","tolerations":[
                          {"key":"node.kubernetes.io/not-ready","operator":"Exists","effect":"NoExecute",
                           "tolerationSeconds":300},
                          {"key":"node.kubernetes.io/unreachable","operator":"Exists","effect":"NoExecute",
                           "tolerationSeconds":300}]},
                         "status":{"phase":"Running","conditions":[
                          {"type":"Ready","status":"True","lastTransitionTime":"2015-01-01T11:00:05Z"}]}}
                        """.formatted(name, name, node)));
    }

    /** The status of its Ready condition and since when. */
    String ready(String name) {
        return found(name)
                .object("status")
                .array("conditions")
                .objects()
                .filter(condition -> condition.text("type").equals("Ready"))
                .map(condition -> condition.text("status") + " " + condition.text("lastTransitionTime"))
                .findFirst()
                .orElse("none");
    }

    /** How many writes of the pod's status were tried. */
    long writes(String name) {
        return cluster.transport.calls().stream()
                .filter(call -> call.target().endsWith("/pods/" + name + "/status"))
                .count();
    }

    List<JsonObject> all() {
        return List.copyOf(pods.values());
    }

    JsonObject answer(Call call, String path) {
        String name = path.split("/")[6];
        JsonObject pod = found(name);
        JsonObject body = call.body().length == 0 ? JsonObject.EMPTY : Json.parseObject(call.body());
        return switch (call.method()) {
            case "GET" -> pod;
            case "PUT" -> {
                check(pod, body.object("metadata"));
                yield store("MODIFIED", pod.with("status", body.object("status")));
            }
            case "PATCH" -> {
                check(pod, body.object("metadata"));
                yield store("MODIFIED", StrategicMergePatch.apply(pod, body, Schemas.POD));
            }
            case "DELETE" -> {
                check(pod, body.object("preconditions"));
                deleted.add(name + "@" + cluster.time.elapsed().toSeconds());
                yield store(
                        "MODIFIED",
                        pod.update("metadata", old -> old.with("deletionTimestamp", "2015-01-01T13:00:00Z")));
            }
            default -> throw ApiException.badRequest(call.toString());
        };
    }

    private static void check(JsonObject pod, JsonObject wanted) {
        JsonObject metadata = pod.object("metadata");
        for (String field : List.of("uid", "resourceVersion")) {
            if (wanted.has(field) && !wanted.text(field).equals(metadata.text(field))) {
                throw ApiException.modified(ResourceType.PODS, metadata.text("name"));
            }
        }
    }

    private JsonObject found(String name) {
        JsonObject pod = pods.get(name);
        if (pod == null) {
            throw ApiException.notFound(ResourceType.PODS, name);
        }
        return pod;
    }

    private JsonObject store(String type, JsonObject pod) {
        JsonObject stored = cluster.versioned(pod);
        pods.put(stored.object("metadata").text("name"), stored);
        cluster.broadcast(ResourceType.PODS, type, stored);
        return stored;
    }
}
