package io.nodekeeper.simulator;

import io.nodekeeper.api.Json;
import io.nodekeeper.api.JsonObject;
import io.nodekeeper.api.Lease;
import io.nodekeeper.api.ResourceType;
import io.nodekeeper.apiserver.ApiRequest;
import io.nodekeeper.apiserver.ApiResponse;
import io.nodekeeper.apiserver.ApiServer;
import io.nodekeeper.apiserver.StreamSink;
import io.nodekeeper.apiserver.User;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Watches nodes, leases, pods and events as any client could, but from inside of the API server, so that it sees each change
 * at the moment of its commit. Confined to virtual time.
 */
final class Observer {
    /** What is seen. */
    interface Sights {
        /** A node was created or changed. */
        void node(JsonObject node);

        /** A node is gone. */
        void nodeGone(JsonObject node);

        /** A node's lease was created or changed. */
        void lease(JsonObject lease);

        /** An event was created or counted. */
        void event(JsonObject event);

        /** A pod was created or changed. */
        default void pod(JsonObject pod) {}

        /** A pod is gone. */
        default void podGone(JsonObject pod) {}
    }

    /** Longer than any simulation: ten years. */
    private static final String FOR_EVER = "315360000";

    private final Follower nodes;
    private final Follower leases;
    private final Follower events;
    private final Follower pods;

    Observer(Sights sights) {
        nodes = new Follower(ResourceType.NODES.path(), (type, object) -> {
            if (type.equals("DELETED")) {
                sights.nodeGone(object);
            } else {
                sights.node(object);
            }
        });
        leases = new Follower(ResourceType.LEASES.path(Lease.NODE_NAMESPACE), (type, object) -> {
            if (!type.equals("DELETED")) {
                sights.lease(object);
            }
        });
        events = new Follower(ResourceType.EVENTS.path(), (type, object) -> {
            if (!type.equals("DELETED")) {
                sights.event(object);
            }
        });
        pods = new Follower(ResourceType.PODS.path(), (type, object) -> {
            if (type.equals("DELETED")) {
                sights.podGone(object);
            } else {
                sights.pod(object);
            }
        });
    }

    /** There is a new API server; what the one before has shown is not shown again. */
    void attach(ApiServer core) {
        nodes.follow(core);
        leases.follow(core);
        events.follow(core);
        pods.follow(core);
    }

    private interface Sighting {
        void seen(String type, JsonObject object);
    }

    private static final class Follower implements StreamSink {
        private final String path;
        private final Sighting sighting;
        private String resourceVersion = "0";

        private Follower(String path, Sighting sighting) {
            this.path = path;
            this.sighting = sighting;
        }

        private void follow(ApiServer core) {
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
}
