package io.nodekeeper.apiserver.writes;

import io.nodekeeper.api.ApiException;
import io.nodekeeper.api.KubeTime;
import io.nodekeeper.api.ResourceType;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.apiserver.catalogue.Resources;
import io.nodekeeper.apiserver.kinds.Generations;
import io.nodekeeper.apiserver.registry.Resource;
import io.nodekeeper.apiserver.writes.OptimisticRetry.Result;
import io.nodekeeper.store.Entry;
import io.nodekeeper.time.Clock;
import java.time.Instant;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.UnaryOperator;

/**
 * Deletes objects: immediately, or after their finalizers are removed, their grace period has ended, or their content
 * is deleted. Thread-safe.
 */
final class ObjectDeleter {
    /**
     * The longest grace period in seconds: 68 years, the largest 32-bit number. The end of a longer one may not be a
     * valid time.
     */
    private static final long LONGEST_GRACE = Integer.MAX_VALUE;

    private final OptimisticRetry retry;
    private final Clock clock;

    ObjectDeleter(OptimisticRetry retry, Clock clock) {
        this.retry = retry;
        this.clock = clock;
    }

    CompletableFuture<Result> delete(WriteRequest write, DeleteOptions options) {
        return delete(write, options, UnaryOperator.identity());
    }

    /** As {@link #delete(WriteRequest, DeleteOptions)}; {@code note} is applied to an object that is marked as deleted. */
    CompletableFuture<Result> delete(WriteRequest write, DeleteOptions options, UnaryOperator<JsonObject> note) {
        return retry.run(write, (entry, object) -> {
            write.admission().accept(object, object);
            checkPrecondition(
                    write, "UID", options.uid(), object.object("metadata").text("uid"));
            checkPrecondition(write, "ResourceVersion", options.resourceVersion(), Long.toString(entry.modRevision()));
            return delete(write, entry, object, kept(write.resource(), object, options), note);
        });
    }

    private CompletableFuture<Result> delete(
            WriteRequest write,
            Entry entry,
            JsonObject object,
            Optional<JsonObject> kept,
            UnaryOperator<JsonObject> note) {
        if (write.dryRun() || kept.equals(Optional.of(object))) {
            return CompletableFuture.completedFuture(new Result(200, kept.orElse(object), kept.isEmpty()));
        }
        return kept.isPresent() ? retry.replace(write, entry, note.apply(kept.get())) : retry.remove(entry, object);
    }

    /**
     * The object that stays after the deletion request, because of its finalizers, its grace period or its content;
     * empty if it is deleted now. As in Kubernetes, a further request can only shorten a grace period.
     */
    private Optional<JsonObject> kept(Resource resource, JsonObject found, DeleteOptions options) {
        long running = found.object("metadata").has("deletionTimestamp")
                ? found.object("metadata").number("deletionGracePeriodSeconds").orElse(0L)
                : 0;
        if (running > 0) {
            long asked = options.graceSeconds().orElse(running);
            return asked >= running
                    ? Optional.of(found)
                    : shortened(propagated(resource, found, options), running, asked);
        }
        JsonObject object = propagated(resource, found, options);
        JsonObject metadata = object.object("metadata");
        boolean namespace = resource.equals(Resources.NAMESPACES);
        boolean held = namespace || !metadata.array("finalizers").isEmpty();
        if (metadata.has("deletionTimestamp")) {
            return held ? Optional.of(object) : Optional.empty();
        }
        long grace = Math.clamp(resource.strategy().graceSeconds(object, options.graceSeconds()), 0, LONGEST_GRACE);
        if (grace == 0 && !held) {
            return Optional.empty();
        }
        JsonObject kept = ending(Generations.marked(object), clock.wallTime().plusSeconds(grace), grace);
        return Optional.of(namespace ? kept.update("status", status -> status.with("phase", "Terminating")) : kept);
    }

    /** The object with the finalizers that the propagation policy asks for. */
    private static JsonObject propagated(Resource resource, JsonObject found, DeleteOptions options) {
        return resource.strategy().isCollected() ? options.propagation().in(found) : found;
    }

    /** The object whose grace period of {@code running} seconds becomes {@code asked} seconds from its first deletion. */
    private Optional<JsonObject> shortened(JsonObject object, long running, long asked) {
        JsonObject metadata = object.object("metadata");
        if (asked == 0 && metadata.array("finalizers").isEmpty()) {
            return Optional.empty();
        }
        Instant end = KubeTime.parse(metadata.text("deletionTimestamp"))
                .map(before -> before.minusSeconds(running - asked))
                .orElseGet(() -> clock.wallTime().plusSeconds(asked));
        return Optional.of(ending(object, end, asked));
    }

    private static JsonObject ending(JsonObject object, Instant end, long grace) {
        return object.update(
                "metadata",
                metadata -> metadata.toBuilder()
                        .put("deletionTimestamp", KubeTime.format(end))
                        .put("deletionGracePeriodSeconds", grace)
                        .build());
    }

    private static void checkPrecondition(WriteRequest write, String what, String expected, String actual) {
        if (!expected.isEmpty() && !expected.equals(actual)) {
            ResourceType type = write.resource().type();
            // Kubernetes names the kind instead of the resource in this message.
            ResourceType named =
                    new ResourceType(type.group(), type.version(), type.kind(), type.kind(), type.namespaced());
            throw ApiException.conflict(
                    named,
                    write.target().name(),
                    "the " + what + " in the precondition (" + expected + ") does not match the " + what
                            + " in record (" + actual + "). The object might have been deleted and then recreated");
        }
    }
}
