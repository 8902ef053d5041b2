package io.nodekeeper.cli.replay;

import io.nodekeeper.api.Failures;
import io.nodekeeper.api.ResourceType;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.client.KubeClient;
import io.nodekeeper.client.Reflector;
import io.nodekeeper.client.Selection;
import io.nodekeeper.controller.heartbeats.Versions;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.random.RandomGenerator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A watch that knows up to which time it has shown everything; see {@link RecorderSight}. Bound: a version for each
 * object. Confined to its client's loop.
 */
final class ProvenWatch {
    private static final Logger log = LoggerFactory.getLogger(ProvenWatch.class);
    /** The deadline of a request that proves sight. A later answer would be too old for a proof soon. */
    private static final Duration TIMEOUT = Duration.ofSeconds(3);

    /** Receives what the watch shows. */
    interface Changes {
        /** The parts of an object that {@link #seen} needs. Called on any thread. */
        JsonObject parts(JsonObject object);

        /** An object was created or changed, or is in a list. */
        void seen(JsonObject object);

        /** An object was deleted. */
        void gone(String name);
    }

    private final KubeClient client;
    private final ResourceType type;
    private final String namespace;
    private final long limit;
    private final Changes changes;
    private final Reflector reflector;
    private final RecorderSight sight;
    private final Map<String, Long> versions = new HashMap<>();
    private boolean listed;
    private boolean proving;
    private long reopenedAt;

    /**
     * A watch that has not started.
     *
     * @param began nothing was missed until then
     * @param limit how old the latest proof may be
     */
    ProvenWatch(
            KubeClient client,
            ResourceType type,
            String namespace,
            RandomGenerator random,
            long began,
            Duration limit,
            Changes changes) {
        this.client = client;
        this.type = type;
        this.namespace = namespace;
        this.limit = limit.toNanos();
        this.changes = changes;
        this.sight = new RecorderSight(began);
        this.reopenedAt = began;
        this.reflector = new Reflector(client, Selection.inNamespace(type, namespace), random, new Handler());
    }

    void start() {
        reflector.start();
    }

    void stop() {
        reflector.stop();
    }

    /** Whether all objects were listed. */
    boolean hasListed() {
        return listed;
    }

    /** Up to when everything has been seen, nanoseconds. */
    long provenAt() {
        return sight.provenAt();
    }

    /** Whether the latest proof is young enough. */
    boolean sees(long now) {
        return now - sight.provenAt() <= limit;
    }

    /**
     * Asks for the current revision, and opens the watch again if it may hang. If no change proves sight for two fifths of
     * the limit, lists all objects: changes are rare in a cluster of a few nodes, or of nodes that are all silent.
     */
    void prove() {
        if (!listed) {
            return;
        }
        long sentAt = client.loop().clock().nanoTime();
        if (!sees(sentAt) && sentAt - reopenedAt > limit) {
            reopenedAt = sentAt;
            reflector.reopen();
        }
        RecorderSight.Question question = sight.ask(sentAt);
        read("limit=1", list -> sight.answered(question, version(list)));
        if (5 * (sentAt - sight.provenAt()) > 2 * limit && !proving) {
            proving = true;
            read("", list -> {
                        List<JsonObject> objects = list.array("items").objects().toList();
                        // If any known object is missing, its deletion was not seen.
                        if (objects.size() == versions.size()
                                && objects.stream().allMatch(this::isSeen)) {
                            sight.listed(sentAt);
                        }
                    })
                    .thenRun(() -> proving = false);
        }
    }

    /** Completes when the answer has been taken in, or the request has failed. */
    private CompletableFuture<Void> read(String query, Consumer<JsonObject> proof) {
        return client.withTimeout(TIMEOUT)
                .keepingOfItems(object -> JsonObject.EMPTY.with("metadata", identity(object)))
                .list(type, namespace, query)
                .handle((list, error) -> {
                    if (error != null) {
                        log.debug("cannot list {}: {}", type.plural(), Failures.text(error));
                    } else {
                        proof.accept(list);
                    }
                    return null;
                });
    }

    private static JsonObject identity(JsonObject object) {
        JsonObject metadata = object.object("metadata");
        return JsonObject.EMPTY
                .with("name", metadata.text("name"))
                .with("resourceVersion", metadata.text("resourceVersion"));
    }

    private boolean isSeen(JsonObject object) {
        Long seen = versions.get(name(object));
        return seen != null && !Versions.isNewer(version(object), seen);
    }

    private static String name(JsonObject object) {
        return object.object("metadata").text("name");
    }

    private static long version(JsonObject object) {
        return Versions.number(object.object("metadata").text("resourceVersion"));
    }

    private final class Handler implements Reflector.Handler {
        private long listedAt;

        @Override
        public void onListing() {
            listedAt = client.loop().clock().nanoTime();
        }

        @Override
        public JsonObject reduced(JsonObject object) {
            return changes.parts(object)
                    .update(
                            "metadata",
                            metadata -> metadata.with(
                                    "resourceVersion", object.object("metadata").text("resourceVersion")));
        }

        @Override
        public void onReplace(List<JsonObject> objects) {
            sight.restart();
            Set<String> missing = new HashSet<>(versions.keySet());
            objects.forEach(object -> missing.remove(name(object)));
            missing.forEach(this::gone);
            objects.forEach(this::seen);
            sight.listed(listedAt);
            listed = true;
        }

        @Override
        public void onChange(JsonObject object) {
            seen(reduced(object));
        }

        @Override
        public void onDelete(JsonObject object) {
            sight.seen(version(object));
            gone(name(object));
        }

        private void seen(JsonObject object) {
            versions.put(name(object), version(object));
            sight.seen(version(object));
            changes.seen(object);
        }

        private void gone(String name) {
            versions.remove(name);
            changes.gone(name);
        }
    }
}
