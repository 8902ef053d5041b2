package io.nodekeeper.agent.csi;

import io.nodekeeper.api.ApiException;
import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.api.patch.StrategicMergePatch;
import io.nodekeeper.api.schema.Schemas;
import io.nodekeeper.client.Call;
import io.nodekeeper.client.FakeTransport;
import io.nodekeeper.client.Reply;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/** An API server that keeps objects by their paths, without rules. */
public final class FakeObjects {
    public final FakeTransport transport = new FakeTransport();
    /** By path, such as {@code /api/v1/nodes/n1}. */
    public final Map<String, JsonObject> objects = new HashMap<>();
    /** Calls as {@code METHOD path} that fail once with a conflict. */
    public final Set<String> conflicts = new TreeSet<>();

    public FakeObjects() {
        transport.answer(this::serve);
    }

    public void put(String path, String json) {
        objects.put(path, Json.parseObject(json));
    }

    public JsonObject get(String path) {
        JsonObject object = objects.get(path);
        if (object == null) {
            throw new AssertionError("nothing at " + path + ", only at " + objects.keySet());
        }
        return object;
    }

    private Optional<Reply> serve(Call call) {
        String path = call.target();
        if (conflicts.remove(call.toString())) {
            return Optional.of(FakeTransport.refusal(new ApiException(409, "Conflict", "changed meanwhile")));
        }
        switch (call.method()) {
            case "POST" -> {
                JsonObject created = Json.parseObject(call.body());
                if (path.endsWith("/token")) {
                    return Optional.of(
                            FakeTransport.reply(
                                    201,
                                    Json.parseObject(
                                            "{\"status\": {\"token\": \"t0ken\", \"expirationTimestamp\": \"2026-01-01T01:00:00Z\"}}")));
                }
                objects.put(path + "/" + created.object("metadata").text("name"), created);
                return Optional.of(FakeTransport.reply(201, created));
            }
            case "PUT" -> objects.put(path, Json.parseObject(call.body()));
            case "PATCH" -> {
                path = path.replace("/status", "");
                objects.put(path, StrategicMergePatch.apply(get(path), Json.parseObject(call.body()), Schemas.NODE));
            }
            default -> {}
        }
        JsonObject object = objects.get(path);
        return Optional.of(
                object == null
                        ? FakeTransport.refusal(new ApiException(404, "NotFound", path + " not found"))
                        : FakeTransport.reply(200, object));
    }
}
