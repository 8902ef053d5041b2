package io.nodekeeper.apiserver.writes;

import io.nodekeeper.api.ApiException;
import io.nodekeeper.api.FieldError;
import io.nodekeeper.api.KubeTime;
import io.nodekeeper.api.ResourceType;
import io.nodekeeper.api.json.JsonArray;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.apiserver.apply.ServerSideApply.Applied;
import io.nodekeeper.apiserver.catalogue.CertificateResources;
import io.nodekeeper.apiserver.catalogue.Resources;
import io.nodekeeper.apiserver.kinds.CertificateRequestStrategy;
import io.nodekeeper.apiserver.registry.ObjectMetaRules;
import io.nodekeeper.apiserver.registry.Resource;
import io.nodekeeper.apiserver.registry.Strategy;
import io.nodekeeper.apiserver.writes.OptimisticRetry.Attempt;
import io.nodekeeper.apiserver.writes.OptimisticRetry.Result;
import io.nodekeeper.store.Entry;
import io.nodekeeper.store.Store;
import io.nodekeeper.time.Clock;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.UnaryOperator;
import java.util.random.RandomGenerator;

/**
 * Creates, updates and patches objects: each write computes the object's next state by the rules of its kind.
 * Thread-safe.
 */
final class ObjectWriter {
    private static final String DELETED = "deletionTimestamp";

    private final Store store;
    private final OptimisticRetry retry;
    private final Clock clock;
    private final RandomGenerator random;

    ObjectWriter(Store store, OptimisticRetry retry, Clock clock, RandomGenerator random) {
        this.store = store;
        this.retry = retry;
        this.clock = clock;
        this.random = random;
    }

    CompletableFuture<Result> create(WriteRequest write, JsonObject body) {
        return prepared(write, body, UnaryOperator.identity()).thenCompose(object -> {
            String name = object.object("metadata").text("name");
            WriteRequest one = write.about(write.target().namespace(), name);
            if (!write.dryRun()) {
                return retry.create(one, object);
            }
            return store.read(one.key()).thenApply(found -> {
                if (found.isPresent()) {
                    throw ApiException.alreadyExists(write.resource().type(), name);
                }
                return new Result(201, object, false);
            });
        });
    }

    /** Creates the object that a write of it did not find. */
    private CompletableFuture<Result> createAbsent(
            WriteRequest write, JsonObject named, UnaryOperator<JsonObject> last) {
        return prepared(write, named, last)
                .thenCompose(object -> write.dryRun()
                        ? CompletableFuture.completedFuture(new Result(201, object, false))
                        : retry.insert(write, object));
    }

    /** The new object to store for the request {@code body}; {@code last} completes it before it is checked. */
    private CompletableFuture<JsonObject> prepared(
            WriteRequest write, JsonObject body, UnaryOperator<JsonObject> last) {
        if (!body.object("metadata").text("resourceVersion").isEmpty()) {
            throw ApiException.badRequest("resourceVersion should not be set on objects to be created");
        }
        return write.resource().type().namespaced()
                ? checkNamespace(write.target().namespace()).thenApply(open -> preparedThere(write, body, last))
                : CompletableFuture.completedFuture(preparedThere(write, body, last));
    }

    private JsonObject preparedThere(WriteRequest write, JsonObject body, UnaryOperator<JsonObject> last) {
        Resource resource = write.resource();
        ResourceType type = resource.type();
        Instant now = clock.wallTime();
        JsonObject named = ObjectMetaRules.forCreate(
                body.with("kind", type.kind()).with("apiVersion", type.apiVersion()),
                write.target().namespace(),
                now,
                random);
        JsonObject object = last.apply(resource.strategy().prepareCreate(named, now));
        write.admission().accept(JsonObject.EMPTY, object);
        List<FieldError> errors = new ArrayList<>(resource.strategy().validate(object));
        errors.addAll(resource.strategy().validateCreate(object));
        validate(type, object.object("metadata").text("name"), ObjectMetaRules.validate(resource, object), errors);
        return object;
    }

    CompletableFuture<Result> update(WriteRequest write, JsonObject body) {
        Attempt replaces = changing(write, old -> {
            checkUid(write, body, old.object("metadata").text("uid"));
            checkHasVersion(write, body);
            return body;
        });
        boolean creates = write.resource().strategy().createsOnUpdate()
                && write.target().subresource().isEmpty();
        return retry.run(write, creates ? replaces.orCreate(() -> createInstead(write, body)) : replaces);
    }

    /** Creates the object that {@code body} would have replaced. It may have a version, as in Kubernetes, but a UID names another object. */
    private CompletableFuture<Result> createInstead(WriteRequest write, JsonObject body) {
        checkUid(write, body, "");
        return createAbsent(
                write,
                named(write, body).update("metadata", metadata -> metadata.without("resourceVersion")),
                UnaryOperator.identity());
    }

    private static JsonObject named(WriteRequest write, JsonObject body) {
        return body.update(
                "metadata", metadata -> metadata.with("name", write.target().name()));
    }

    private static void checkHasVersion(WriteRequest write, JsonObject body) {
        ResourceType type = write.resource().type();
        if (body.object("metadata").text("resourceVersion").isEmpty()
                && write.resource().strategy().needsResourceVersion()) {
            // Kubernetes names the resource instead of the kind in this message.
            ResourceType named =
                    new ResourceType(type.group(), type.version(), type.plural(), type.plural(), type.namespaced());
            throw ApiException.invalid(
                    named,
                    write.target().name(),
                    List.of(FieldError.invalid("metadata.resourceVersion", "0x0", "must be specified for an update")));
        }
    }

    /** Fails if {@code body} names another UID than {@code actual}, which is empty for an object that does not exist. */
    private static void checkUid(WriteRequest write, JsonObject body, String actual) {
        String uid = body.object("metadata").text("uid");
        if (!uid.isEmpty() && !uid.equals(actual)) {
            throw ApiException.conflict(
                    write.resource().type(),
                    write.target().name(),
                    "Precondition failed: UID in precondition: " + uid + ", UID in object meta: " + actual);
        }
    }

    CompletableFuture<Result> patch(WriteRequest write, UnaryOperator<JsonObject> patch) {
        Resource resource = write.resource();
        Attempt patches = changing(write, old -> {
            JsonObject patched = patch.apply(old);
            RequestBodies.checkChanged(resource, patched);
            JsonObject asked = RequestBodies.normalized(resource, patched);
            checkPatched(write, old, asked);
            return asked;
        });
        return retry.run(write, patches);
    }

    /**
     * Applies {@code wanted} to the object; creates it if it does not exist.
     * @param complete completes each object from a client
     * @param admit completes and checks a new object further; whether it is new depends on the store, not on what the client says
     */
    CompletableFuture<Result> apply(
            WriteRequest write,
            JsonObject wanted,
            boolean force,
            UnaryOperator<JsonObject> complete,
            UnaryOperator<JsonObject> admit) {
        String now = KubeTime.format(clock.wallTime());
        Attempt merges = merging(write, wanted, force, complete, now);
        return retry.run(
                write,
                write.target().subresource().isEmpty()
                        ? merges.orCreate(() -> {
                            checkNamesNoUid(write, wanted);
                            return createAbsent(
                                    write,
                                    admit.apply(complete.apply(named(write, wanted))),
                                    object -> FieldOwnership.with(object, FieldOwnership.created(write, wanted, now)));
                        })
                        : merges);
    }

    private static void checkNamesNoUid(WriteRequest write, JsonObject wanted) {
        String uid = wanted.object("metadata").text("uid");
        if (!uid.isEmpty()) {
            throw ApiException.conflict(
                    write.resource().type(),
                    write.target().name(),
                    "uid mismatch: the provided object specified uid " + uid + ", and no existing object was found");
        }
    }

    private Attempt merging(
            WriteRequest write, JsonObject wanted, boolean force, UnaryOperator<JsonObject> complete, String now) {
        return (entry, old) -> {
            Applied applied = FieldOwnership.apply(write, old, wanted, force, now);
            if (!applied.conflicts().isEmpty()) {
                throw applied.refusal();
            }
            JsonObject asked = complete.apply(applied.object());
            RequestBodies.checkChanged(write.resource(), asked);
            checkPatched(write, old, asked);
            checkVersion(write, entry, asked);
            return store(write, entry, old, FieldOwnership.with(next(write, old, asked), applied.owners()));
        };
    }

    private static void checkPatched(WriteRequest write, JsonObject old, JsonObject asked) {
        ObjectMetaRules.checkPlace(
                asked, write.target().namespace(), write.target().name());
        validate(write.resource().type(), write.target().name(), ObjectMetaRules.validateUpdate(asked, old), List.of());
    }

    private static void checkVersion(WriteRequest write, Entry entry, JsonObject asked) {
        String version = asked.object("metadata").text("resourceVersion");
        if (!version.isEmpty() && !version.equals(Long.toString(entry.modRevision()))) {
            throw ApiException.modified(write.resource().type(), write.target().name());
        }
    }

    /** Calls {@code change} with the current object to get the requested one; a version in it must match. */
    private Attempt changing(WriteRequest write, UnaryOperator<JsonObject> change) {
        return (entry, old) -> {
            JsonObject asked = change.apply(old);
            checkVersion(write, entry, asked);
            JsonObject next = next(write, old, asked);
            // Most objects were never applied, so their fields have no owners.
            JsonObject owned = FieldOwnership.isTracked(old)
                    ? FieldOwnership.tracked(write, old, asked, next, KubeTime.format(clock.wallTime()))
                    : next;
            return store(write, entry, old, owned);
        };
    }

    private CompletableFuture<Result> store(WriteRequest write, Entry entry, JsonObject old, JsonObject next) {
        boolean gone = lastFinalizerWent(write.resource(), old, next);
        if (write.dryRun() || next.equals(old)) {
            return CompletableFuture.completedFuture(new Result(200, next, gone));
        }
        return gone ? retry.remove(entry, next) : retry.replace(write, entry, next);
    }

    /** Whether the last finalizer of a deleted object was removed; a namespace has further ones in its spec. */
    private static boolean lastFinalizerWent(Resource resource, JsonObject old, JsonObject next) {
        JsonObject metadata = next.object("metadata");
        if (resource.equals(Resources.NAMESPACES)) {
            return metadata.has(DELETED)
                    && metadata.array("finalizers").isEmpty()
                    && next.object("spec").array("finalizers").isEmpty();
        }
        return metadata.has(DELETED)
                && metadata.number("deletionGracePeriodSeconds").orElse(0L) == 0
                && metadata.array("finalizers").isEmpty()
                && !old.object("metadata").array("finalizers").isEmpty();
    }

    /** The object to store for the request {@code asked}, through the main resource or a subresource. */
    private static JsonObject next(WriteRequest write, JsonObject old, JsonObject asked) {
        Resource resource = write.resource();
        String subresource = write.target().subresource();
        JsonObject merged = asked;
        if (!subresource.equals("status") && resource.hasStatus()) {
            merged = withField(merged, old, "status");
        }
        // Labels and annotations may be written with the status, but not the spec. The finalize subresource is the only
        // writer of a namespace's spec.
        if (subresource.equals("status")
                || (subresource.isEmpty() && resource.subresource("finalize").isPresent())) {
            merged = withField(merged, old, "spec");
        }
        if (resource.equals(CertificateResources.REQUESTS)) {
            merged = switch (subresource) {
                case "approval" -> CertificateRequestStrategy.approved(asked, old);
                case "status" -> CertificateRequestStrategy.withOldApproval(merged, old);
                default -> merged;
            };
        }
        if (subresource.equals("status") && resource.type().equals(ResourceType.PODS)) {
            // A status update cannot change a pod's owners (as in Kubernetes).
            merged = merged.update(
                    "metadata", metadata -> withField(metadata, old.object("metadata"), "ownerReferences"));
        }
        JsonObject kept = ObjectMetaRules.forUpdate(
                merged.with("kind", resource.type().kind())
                        .with("apiVersion", resource.type().apiVersion())
                        .update(
                                "metadata",
                                metadata -> metadata.with(
                                        "resourceVersion",
                                        old.object("metadata").text("resourceVersion"))),
                old);
        Strategy strategy = resource.strategy().of(subresource);
        JsonObject next = strategy.prepareUpdate(kept, old);
        write.admission().accept(old, next);
        List<FieldError> errors = new ArrayList<>(ObjectMetaRules.validate(resource, next));
        errors.addAll(ObjectMetaRules.validateUpdate(next, old));
        errors.addAll(strategy.validateUpdate(next, old));
        validate(resource.type(), write.target().name(), errors, strategy.validate(next));
        return next;
    }

    /** Fails unless the namespace exists and is not terminating, including one that another server has just created. */
    private CompletableFuture<Boolean> checkNamespace(String namespace) {
        String key = Resources.NAMESPACES.key("", namespace);
        return loaded(store.get(key))
                .thenCompose(known -> whyClosed(namespace, known).isEmpty()
                        ? CompletableFuture.completedFuture(known)
                        : store.read(key))
                .thenApply(found -> {
                    Optional<ApiException> why = whyClosed(namespace, found);
                    if (why.isPresent()) {
                        throw why.get();
                    }
                    return true;
                });
    }

    private CompletableFuture<Optional<Entry>> loaded(Optional<Entry> found) {
        return found.map(entry -> store.load(entry).thenApply(Optional::of))
                .orElseGet(() -> CompletableFuture.completedFuture(found));
    }

    /** Why a namespace accepts no new objects. */
    private static Optional<ApiException> whyClosed(String namespace, Optional<Entry> found) {
        if (found.isEmpty()) {
            return Optional.of(ApiException.notFound(ResourceType.NAMESPACES, namespace));
        }
        // Each creation looks here, and a namespace may be large.
        if (!Resources.NAMESPACES.codec().mayContain(found.get(), DELETED)
                || !Resources.NAMESPACES
                        .codec()
                        .decode(found.get())
                        .object("metadata")
                        .has(DELETED)) {
            return Optional.empty();
        }
        JsonObject cause = JsonObject.builder()
                .put("reason", "NamespaceTerminating")
                .put("message", "namespace " + namespace + " is being terminated")
                .put("field", "metadata.namespace")
                .build();
        return Optional.of(new ApiException(
                403,
                "Forbidden",
                "unable to create new content in namespace " + namespace + " because it is being terminated",
                JsonObject.builder().put("causes", JsonArray.of(cause)).build()));
    }

    private static JsonObject withField(JsonObject object, JsonObject from, String field) {
        Optional<JsonObject> with = from.get(field).map(value -> object.with(field, value));
        return with.orElseGet(() -> object.without(field));
    }

    private static void validate(ResourceType type, String name, List<FieldError> errors, List<FieldError> moreErrors) {
        List<FieldError> all = new ArrayList<>(errors);
        all.addAll(moreErrors);
        if (!all.isEmpty()) {
            // Limited, because a client can choose texts with colliding hash codes.
            throw ApiException.invalid(
                    type,
                    name,
                    all.stream().distinct().limit(ApiException.ERRORS + 1).toList());
        }
    }
}
