package io.nodekeeper.apiserver;

import io.nodekeeper.api.ApiException;
import io.nodekeeper.api.FieldError;
import io.nodekeeper.api.JsonArray;
import io.nodekeeper.api.JsonObject;
import io.nodekeeper.api.KubeTime;
import io.nodekeeper.api.ResourceType;
import io.nodekeeper.store.Entry;
import io.nodekeeper.store.Store;
import io.nodekeeper.store.StoreException;
import io.nodekeeper.time.Clock;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.random.RandomGenerator;

/**
 * Creates, updates, patches and deletes objects. Each write reads the object, makes the next state by the rules of its
 * kind and puts it at the revision that was read; if somebody was faster, a write that did not insist on a version starts
 * again. Thread-safe.
 */
final class Writes {
    /** Tries of a write that loses its race; each loss means that another write won, so this ends. Chosen. */
    private static final int TRIES = 1_000;

    private final Store store;
    private final Clock clock;
    private final RandomGenerator random;

    Writes(Store store, Clock clock, RandomGenerator random) {
        this.store = store;
        this.clock = clock;
        this.random = random;
    }

    /**
     * What came of a write.
     *
     * @param status the HTTP status
     * @param object the object as it is now, with its resource version
     * @param gone whether it is no longer stored
     */
    record Result(int status, JsonObject object, boolean gone) {}

    /** Makes the next state of an object from the one before. */
    private interface Change {
        JsonObject of(JsonObject old);
    }

    CompletableFuture<Result> create(Resource resource, String namespace, JsonObject body, boolean dryRun) {
        ResourceType type = resource.type();
        if (!body.object("metadata").text("resourceVersion").isEmpty()) {
            throw new ApiException(500, "", "resourceVersion should not be set on objects to be created");
        }
        if (type.namespaced()) {
            checkNamespace(namespace);
        }
        Instant now = clock.wallTime();
        JsonObject named = MetadataRules.forCreate(
                body.with("kind", type.kind()).with("apiVersion", type.apiVersion()), namespace, now, random);
        JsonObject object = resource.strategy().prepareCreate(named, now);
        String name = object.object("metadata").text("name");
        validate(resource, name, MetadataRules.validate(resource, object), resource.strategy().validate(object));
        String key = resource.key(namespace, name);
        if (dryRun) {
            if (store.get(key).isPresent()) {
                throw ApiException.alreadyExists(type, name);
            }
            return CompletableFuture.completedFuture(new Result(201, object, false));
        }
        return store.put(key, resource.codec().encode(object), 0).handle((entry, error) -> {
            if (error == null) {
                return new Result(201, resource.codec().decode(entry), false);
            }
            throw cause(error) instanceof StoreException.Conflict
                    ? ApiException.alreadyExists(type, name)
                    : refused(error);
        });
    }

    CompletableFuture<Result> update(
            Resource resource, RequestInfo.Target target, JsonObject body, boolean dryRun) {
        String version = body.object("metadata").text("resourceVersion");
        ResourceType type = resource.type();
        String key = resource.key(target.namespace(), target.name());
        if (store.get(key).isEmpty() && resource.strategy().createsOnUpdate() && target.subresource().isEmpty()) {
            JsonObject fresh = body.update(
                    "metadata",
                    metadata -> metadata.with("name", target.name()).without("resourceVersion"));
            return create(resource, target.namespace(), fresh, dryRun);
        }
        if (version.isEmpty() && resource.strategy().needsResourceVersion()) {
            throw ApiException.invalid(
                    type,
                    target.name(),
                    List.of(FieldError.invalid(
                            "metadata.resourceVersion", "0x0", "must be specified for an update")));
        }
        String uid = body.object("metadata").text("uid");
        return change(resource, target, dryRun, version, old -> {
            String known = old.object("metadata").text("uid");
            if (!uid.isEmpty() && !uid.equals(known)) {
                throw ApiException.conflict(
                        type,
                        target.name(),
                        "Precondition failed: UID in precondition: " + uid + ", UID in object meta: " + known);
            }
            return body;
        });
    }

    CompletableFuture<Result> patch(
            Resource resource,
            RequestInfo.Target target,
            java.util.function.UnaryOperator<JsonObject> patch,
            boolean dryRun) {
        return change(resource, target, dryRun, "", old -> {
            JsonObject patched = patch.apply(old);
            Bodies.check(resource, patched, 422);
            JsonObject asked = (JsonObject) Codec.normalize(patched, Optional.of(resource.schema()));
            MetadataRules.checkPlace(asked, target.namespace(), target.name());
            List<FieldError> errors = MetadataRules.validateUpdate(asked, old);
            validate(resource, target.name(), errors, List.of());
            return asked;
        });
    }

    /** The next state of an existing object; {@code version} is the one insisted on, or empty. */
    private CompletableFuture<Result> change(
            Resource resource, RequestInfo.Target target, boolean dryRun, String version, Change change) {
        CompletableFuture<Result> result = new CompletableFuture<>();
        attempt(resource, target, dryRun, version, change, 1, result);
        return result;
    }

    private void attempt(
            Resource resource,
            RequestInfo.Target target,
            boolean dryRun,
            String version,
            Change change,
            int number,
            CompletableFuture<Result> result) {
        try {
            ResourceType type = resource.type();
            Codec codec = resource.codec();
            Entry entry = store.get(resource.key(target.namespace(), target.name()))
                    .orElseThrow(() -> ApiException.notFound(type, target.name()));
            JsonObject old = codec.decode(entry);
            JsonObject asked = change.of(old);
            String wanted = version.isEmpty() ? asked.object("metadata").text("resourceVersion") : version;
            if (!wanted.isEmpty() && !wanted.equals(Long.toString(entry.modRevision()))) {
                throw ApiException.modified(type, target.name());
            }
            JsonObject next = next(resource, target, old, asked);
            if (next.object("metadata").has("deletionTimestamp")
                    && next.object("metadata").array("finalizers").isEmpty()
                    && next.object("metadata").number("deletionGracePeriodSeconds").orElse(0L) == 0
                    && !old.object("metadata").array("finalizers").isEmpty()) {
                finish(store.delete(entry.key(), entry.modRevision()).thenApply(revision -> new Result(200, next, true)),
                        resource, target, dryRun, version, change, number, result);
                return;
            }
            if (dryRun || next.equals(old)) {
                result.complete(new Result(200, next, false));
                return;
            }
            finish(store.put(entry.key(), codec.encode(next), entry.modRevision())
                            .thenApply(stored -> new Result(200, codec.decode(stored), false)),
                    resource, target, dryRun, version, change, number, result);
        } catch (RuntimeException e) {
            result.completeExceptionally(e);
        }
    }

    private void finish(
            CompletableFuture<Result> write,
            Resource resource,
            RequestInfo.Target target,
            boolean dryRun,
            String version,
            Change change,
            int number,
            CompletableFuture<Result> result) {
        write.whenComplete((done, error) -> {
            if (error == null) {
                result.complete(done);
            } else if (cause(error) instanceof StoreException.Conflict && number < TRIES) {
                // Somebody was faster: a write that insisted on a version is refused by the next attempt's check.
                attempt(resource, target, dryRun, version, change, number + 1, result);
            } else {
                result.completeExceptionally(refused(error));
            }
        });
    }

    /** The object that is to be stored when {@code asked} for, by way of the main resource or a subresource. */
    private JsonObject next(Resource resource, RequestInfo.Target target, JsonObject old, JsonObject asked) {
        JsonObject merged;
        if (target.subresource().isEmpty()) {
            merged = resource.hasStatus() ? withField(asked, old, "status") : asked;
        } else {
            // Labels and annotations may be written along with the status; the spec may not.
            merged = withField(asked, old, "spec");
        }
        JsonObject kept = MetadataRules.forUpdate(
                merged.with("kind", resource.type().kind())
                        .with("apiVersion", resource.type().apiVersion())
                        .update("metadata", metadata -> metadata.with(
                                "resourceVersion", old.object("metadata").text("resourceVersion"))),
                old);
        JsonObject next = resource.strategy().prepareUpdate(kept, old);
        List<FieldError> errors = new ArrayList<>(MetadataRules.validate(resource, next));
        errors.addAll(MetadataRules.validateUpdate(next, old));
        errors.addAll(resource.strategy().validateUpdate(next, old));
        validate(resource, target.name(), errors, resource.strategy().validate(next));
        return next;
    }

    CompletableFuture<Result> delete(Resource resource, RequestInfo.Target target, JsonObject options) {
        CompletableFuture<Result> result = new CompletableFuture<>();
        delete(resource, target.namespace(), target.name(), options, 1, result);
        return result;
    }

    private void delete(
            Resource resource,
            String namespace,
            String name,
            JsonObject options,
            int number,
            CompletableFuture<Result> result) {
        try {
            ResourceType type = resource.type();
            Codec codec = resource.codec();
            Entry entry = store.get(resource.key(namespace, name))
                    .orElseThrow(() -> ApiException.notFound(type, name));
            JsonObject object = codec.decode(entry);
            checkPreconditions(type, name, object, options.object("preconditions"));
            boolean dryRun = !options.array("dryRun").isEmpty();
            Optional<JsonObject> kept = keptWhenDeleted(resource, object, options);
            CompletableFuture<Result> write;
            if (dryRun) {
                write = CompletableFuture.completedFuture(new Result(200, kept.orElse(object), kept.isEmpty()));
            } else if (kept.isPresent()) {
                write = kept.get().equals(object)
                        ? CompletableFuture.completedFuture(new Result(200, object, false))
                        : store.put(entry.key(), codec.encode(kept.get()), entry.modRevision())
                                .thenApply(stored -> new Result(200, codec.decode(stored), false));
            } else {
                write = store.delete(entry.key(), entry.modRevision())
                        .thenApply(revision -> new Result(200, object, true));
            }
            write.whenComplete((done, error) -> {
                if (error == null) {
                    result.complete(done);
                } else if (cause(error) instanceof StoreException.Conflict && number < TRIES) {
                    delete(resource, namespace, name, options, number + 1, result);
                } else {
                    result.completeExceptionally(refused(error));
                }
            });
        } catch (RuntimeException e) {
            result.completeExceptionally(e);
        }
    }

    /** The object as it stays for now although it is deleted: for its finalizers, its grace or its content. */
    private Optional<JsonObject> keptWhenDeleted(Resource resource, JsonObject object, JsonObject options) {
        JsonObject metadata = object.object("metadata");
        long grace = resource.strategy().graceSeconds(object, options.number("gracePeriodSeconds"));
        boolean namespace = resource.equals(Resources.NAMESPACES);
        if (grace <= 0 && metadata.array("finalizers").isEmpty() && !namespace) {
            return Optional.empty();
        }
        long running = metadata.number("deletionGracePeriodSeconds").orElse(Long.MAX_VALUE);
        if (metadata.has("deletionTimestamp") && grace >= running) {
            return Optional.of(object);
        }
        Instant end = clock.wallTime().plusSeconds(grace);
        JsonObject kept = object.update(
                "metadata",
                old -> old.toBuilder()
                        .put("deletionTimestamp", KubeTime.format(end))
                        .put("deletionGracePeriodSeconds", grace)
                        .build());
        return Optional.of(
                namespace ? kept.update("status", status -> status.with("phase", "Terminating")) : kept);
    }

    private static void checkPreconditions(ResourceType type, String name, JsonObject object, JsonObject wanted) {
        for (String field : List.of("uid", "resourceVersion")) {
            String expected = wanted.text(field);
            String actual = object.object("metadata").text(field);
            if (!expected.isEmpty() && !expected.equals(actual)) {
                String what = field.equals("uid") ? "UID" : "ResourceVersion";
                throw ApiException.conflict(
                        type,
                        name,
                        "the " + what + " in the precondition (" + expected + ") does not match the " + what
                                + " in record (" + actual
                                + "). The object might have been deleted and then recreated");
            }
        }
    }

    private void checkNamespace(String namespace) {
        Entry entry = store.get(Resources.NAMESPACES.key("", namespace))
                .orElseThrow(() -> ApiException.notFound(ResourceType.NAMESPACES, namespace));
        JsonObject object = Resources.NAMESPACES.codec().decode(entry);
        if (object.object("status").text("phase").equals("Terminating")) {
            String why = "namespace " + namespace + " is being terminated";
            JsonObject cause = JsonObject.builder()
                    .put("reason", "NamespaceTerminating")
                    .put("message", why)
                    .put("field", "metadata.namespace")
                    .build();
            throw new ApiException(
                    403,
                    "Forbidden",
                    "unable to create new content in namespace " + namespace + " because it is being terminated",
                    JsonObject.builder().put("causes", JsonArray.of(cause)).build());
        }
    }

    private static JsonObject withField(JsonObject object, JsonObject from, String field) {
        return from.get(field).map(value -> object.with(field, value)).orElseGet(() -> object.without(field));
    }

    private static void validate(
            Resource resource, String name, List<FieldError> errors, List<FieldError> moreErrors) {
        List<FieldError> all = new ArrayList<>(errors);
        all.addAll(moreErrors);
        if (!all.isEmpty()) {
            throw ApiException.invalid(resource.type(), name, all.stream().distinct().toList());
        }
    }

    private static Throwable cause(Throwable error) {
        return error instanceof CompletionException && error.getCause() != null ? error.getCause() : error;
    }

    private static RuntimeException refused(Throwable error) {
        return cause(error) instanceof StoreException failed && !(failed instanceof StoreException.Conflict)
                ? new ApiException(500, "InternalError", "Internal error occurred: " + failed.getMessage())
                : new ApiException(500, "InternalError", "Internal error occurred: " + cause(error));
    }
}
