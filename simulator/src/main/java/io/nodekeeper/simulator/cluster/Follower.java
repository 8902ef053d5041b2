package io.nodekeeper.simulator.cluster;

import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.apiserver.ApiServer;
import io.nodekeeper.apiserver.request.ApiRequest;
import io.nodekeeper.apiserver.request.ApiResponse;
import io.nodekeeper.apiserver.request.StreamSink;
import io.nodekeeper.apiserver.request.User;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** A watch inside the API server, which sees each change at the moment of its commit. Confined to virtual time. */
public final class Follower implements StreamSink {
    /** Receives each change. */
    public interface Sighting {
        /** {@code type} is ADDED, MODIFIED or DELETED. */
        void seen(String type, JsonObject object);
    }

    /** Longer than any simulation: ten years. */
    private static final String FOR_EVER = "315360000";

    private final String path;
    private final Sighting sighting;
    private String resourceVersion = "0";

    public Follower(String path, Sighting sighting) {
        this.path = path;
        this.sighting = sighting;
    }

    /** Watches a new API server; skips what the previous one has shown. */
    public void follow(ApiServer core) {
        ApiRequest request = new ApiRequest(
                "GET",
                path,
                Map.of(
                        "watch", List.of("true"),
                        "resourceVersion", List.of(resourceVersion),
                        "timeoutSeconds", List.of(FOR_EVER)),
                Map.of(),
                new byte[0],
                Optional.of(User.authenticated("observer", List.of("system:masters"))));
        core.handle(request).thenAccept(response -> {
            if (!(response instanceof ApiResponse.Streamed streamed)) {
                throw new IllegalStateException("watch of " + path + " was refused: " + response);
            }
            streamed.start().accept(this);
        });
    }

    @Override
    public void writeFirst(byte[] bytes) {
        write(bytes);
    }

    @Override
    public void write(byte[] bytes) {
        JsonObject event = Json.parseObject(Arrays.copyOf(bytes, bytes.length - 1));
        JsonObject object = event.object("object");
        if (event.text("type").equals("ERROR")) {
            throw new IllegalStateException("watch of " + path + " failed: " + object);
        }
        resourceVersion = object.object("metadata").text("resourceVersion");
        sighting.seen(event.text("type"), object);
    }

    @Override
    public void end() {}

    @Override
    public void onClose(Runnable action) {}
}
