package io.nodekeeper.apiserver.writes;

import io.nodekeeper.api.ApiException;
import io.nodekeeper.api.Failures;
import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.api.json.JsonString;
import io.nodekeeper.api.yaml.Yaml;
import io.nodekeeper.apiserver.admission.CertificateAdmission;
import io.nodekeeper.apiserver.admission.ClassAdmission;
import io.nodekeeper.apiserver.admission.DefaultTolerations;
import io.nodekeeper.apiserver.admission.EventAdmission;
import io.nodekeeper.apiserver.admission.NodeRestriction;
import io.nodekeeper.apiserver.admission.ServiceAccountAdmission;
import io.nodekeeper.apiserver.authorization.AccessSpace;
import io.nodekeeper.apiserver.authorization.Escalation;
import io.nodekeeper.apiserver.catalogue.Resources;
import io.nodekeeper.apiserver.kinds.NamespaceStrategy;
import io.nodekeeper.apiserver.reads.ListOptions;
import io.nodekeeper.apiserver.registry.ObjectMetaRules;
import io.nodekeeper.apiserver.registry.Resource;
import io.nodekeeper.apiserver.request.ApiRequest;
import io.nodekeeper.apiserver.request.ApiResponse;
import io.nodekeeper.apiserver.request.RequestTarget;
import io.nodekeeper.apiserver.request.User;
import io.nodekeeper.store.Entry;
import io.nodekeeper.store.Store;
import io.nodekeeper.store.StoreException;
import io.nodekeeper.time.Clock;
import io.nodekeeper.time.Futures;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.BiConsumer;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import java.util.random.RandomGenerator;
import java.util.stream.Stream;

/** Handles write requests: parses bodies and options, performs the write, and returns the result. Thread-safe. */
public final class WriteHandler {
    /**
     * The most characters of a warning header, because clients limit their headers. Kubernetes' limit is also 4 KiB.
     */
    private static final int WARNING = 4_000;

    private final Store store;
    private final FreshLookups lookups;
    private final ObjectWriter writer;
    private final ObjectDeleter deleter;
    private final CollectionDeleter collectionDeleter;
    private final NodeRestriction nodeRestriction;
    private final LeaseRenewals renewals;
    private final Escalation escalation;
    private final AccessSpace accessSpace;
    private final EventAdmission events;
    private final DefaultTolerations defaultTolerations;
    private final ServiceAccountAdmission serviceAccounts;
    private final ClassAdmission classes;
    private final CertificateAdmission certificates;
    private final OptimisticRetry retry;
    private final Executor workers;
    private final Function<User, Executor> turns;

    /**
     * {@code turns} runs attempts after conflicts and deletes collections, in the turn of their user; {@code workers} runs attempts of
     * the server's own writes.
     */
    public WriteHandler(
            Store store,
            Clock clock,
            RandomGenerator random,
            DefaultTolerations defaultTolerations,
            ServiceAccountAdmission serviceAccounts,
            Escalation escalation,
            AccessSpace accessSpace,
            CertificateAdmission certificates,
            EventAdmission events,
            Executor workers,
            Function<User, Executor> turns) {
        this.events = events;
        this.store = store;
        lookups = new FreshLookups(store);
        nodeRestriction = new NodeRestriction(store);
        this.escalation = escalation;
        this.accessSpace = accessSpace;
        this.certificates = certificates;
        this.defaultTolerations = defaultTolerations;
        this.serviceAccounts = serviceAccounts;
        classes = new ClassAdmission(store);
        renewals = new LeaseRenewals(store, nodeRestriction);
        this.workers = workers;
        this.turns = turns;
        retry = new OptimisticRetry(store);
        writer = new ObjectWriter(store, retry, clock, random);
        deleter = new ObjectDeleter(retry, clock);
        collectionDeleter = new CollectionDeleter(store, deleter);
    }

    /** Creates an object as the server itself. */
    public CompletableFuture<OptimisticRetry.Result> createOwn(Resource resource, String namespace, JsonObject object) {
        RequestTarget target = RequestTarget.of(resource.type(), namespace, "", "");
        return writer.create(own(resource, target), object);
    }

    /** Changes an object as the server itself, within the limits of size and memory that users have. */
    public CompletableFuture<?> updateOwn(Resource resource, String name, UnaryOperator<JsonObject> change) {
        WriteRequest write = own(resource, RequestTarget.of(resource.type(), "", name, ""));
        return retry.run(write, (entry, object) -> {
            JsonObject next = change.apply(object);
            accessSpace.check(resource, object, next);
            return retry.replace(write, entry, next);
        });
    }

    /**
     * Deletes an object as the server itself, or marks it as deleted if it has finalizers, or if it is {@code graceful} and has a grace
     * period.
     */
    public CompletableFuture<?> deleteOwn(Resource resource, String namespace, String name, boolean graceful) {
        RequestTarget target = RequestTarget.of(resource.type(), namespace, name, "");
        return deleter.delete(own(resource, target), graceful ? DeleteOptions.GRACEFUL : DeleteOptions.NOW);
    }

    private WriteRequest own(Resource resource, RequestTarget target) {
        return new WriteRequest(resource, target, false, (old, next) -> {}, workers);
    }

    /** A write by {@code user}, restricted to what their credential may change. */
    public WriteRequest writeRequest(User user, Resource resource, RequestTarget target, boolean dryRun) {
        return new WriteRequest(
                resource,
                target,
                dryRun,
                admission(user, resource, target).andThen((old, next) -> accessSpace.check(resource, old, next)),
                turns.apply(user));
    }

    /** A write by {@code user} as {@code request} asks. The memory that authorization needs for it is claimed until it ends. */
    private CompletableFuture<OptimisticRetry.Result> write(
            User user,
            Resource resource,
            RequestTarget target,
            ApiRequest request,
            boolean patches,
            Function<WriteRequest, CompletableFuture<OptimisticRetry.Result>> start) {
        AccessSpace.Claim claim = accessSpace.claim();
        WriteRequest asked = new WriteRequest(
                resource,
                target,
                dryRun(request),
                admission(user, resource, target).andThen((old, next) -> claim.take(resource, old, next)),
                turns.apply(user),
                manager(request),
                patches);
        return Futures.start(() -> start.apply(asked)).whenComplete((result, error) -> claim.release());
    }

    private BiConsumer<JsonObject, JsonObject> admission(User user, Resource resource, RequestTarget target) {
        return (old, next) -> {
            nodeRestriction.check(user, resource, target, old, next);
            escalation.checkCreation(user, target, old);
            escalation.check(user, resource, old, next);
            certificates.check(user, resource, target, old, next);
            classes.check(resource, old, next);
            if (old != next) {
                events.check(user, resource, next);
            }
        };
    }

    public CompletableFuture<ApiResponse> create(
            User user, Resource resource, RequestTarget target, ApiRequest request) {
        List<String> warnings = new ArrayList<>();
        JsonObject body = body(resource, target, request, warnings);
        return write(
                        user,
                        resource,
                        target,
                        request,
                        false,
                        asked -> lookups.decide(
                                asked.turn(),
                                fresh -> asked.parsing(
                                        consulted(asked, body),
                                        () -> writer.create(asked, admitted(user, resource, target, body, fresh)))))
                .thenApply(result -> shown(resource, result, warnings));
    }

    /** The stored objects that admission of {@code object} parses: the account of a new pod, or the node of a mirror pod. */
    private List<Entry> consulted(WriteRequest asked, JsonObject object) {
        if (!asked.resource().equals(Resources.PODS)) {
            return List.of();
        }
        String node = object.object("spec").text("nodeName");
        return Stream.of(serviceAccounts.account(asked.target(), object), Resources.NODES.key("", node))
                .flatMap(key -> store.get(key).stream())
                .toList();
    }

    /** A new object after admission. */
    private JsonObject admitted(User user, Resource resource, RequestTarget target, JsonObject object, boolean fresh) {
        JsonObject authored = certificates.admit(user, resource, target, object);
        return classes.admit(resource, target, serviceAccounts.admit(resource, target, authored, fresh));
    }

    public CompletableFuture<ApiResponse> update(
            User user, Resource resource, RequestTarget target, ApiRequest request) {
        return renewals.start(user, resource, target, request)
                // The general path finds out what the other write means for this one.
                .map(renewed -> renewed.exceptionallyComposeAsync(
                        error -> Failures.cause(error) instanceof StoreException.Conflict
                                ? replace(user, resource, target, request)
                                : CompletableFuture.failedFuture(OptimisticRetry.refused(error)),
                        turns.apply(user)))
                .orElseGet(() -> replace(user, resource, target, request));
    }

    private CompletableFuture<ApiResponse> replace(
            User user, Resource resource, RequestTarget target, ApiRequest request) {
        List<String> warnings = new ArrayList<>();
        JsonObject body = body(resource, target, request, warnings);
        return write(user, resource, target, request, false, asked -> writer.update(asked, body))
                .thenApply(result -> shown(resource, result, warnings));
    }

    private JsonObject body(Resource resource, RequestTarget target, ApiRequest request, List<String> warnings) {
        List<String> repeated = new ArrayList<>();
        JsonObject raw = RequestBodies.object(request, repeated::add);
        RequestBodies.check(resource, raw, 400);
        warnings.addAll(RequestBodies.strictFaults(resource, raw, repeated, Set.of(), request, 400));
        JsonObject body = RequestBodies.normalized(resource, raw);
        ObjectMetaRules.checkPlace(body, target.namespace(), target.name());
        return defaultTolerations.admit(resource, target, body);
    }

    public CompletableFuture<ApiResponse> patch(
            User user, Resource resource, RequestTarget target, ApiRequest request) {
        if (request.contentType().equals(Yaml.APPLY_MEDIA_TYPE)) {
            return apply(user, resource, target, request);
        }
        if (request.hasParameter("force")) {
            throw badOption("force: Forbidden: may not be specified for non-apply patch");
        }
        List<String> repeated = new ArrayList<>();
        UnaryOperator<JsonObject> patch = RequestBodies.patch(request, resource.schema(), repeated::add);
        // Each attempt has its own warnings; the last ones count.
        List<String> warnings = new ArrayList<>();
        UnaryOperator<JsonObject> checked = old -> {
            JsonObject patched = patch.apply(old);
            // Faults that the object had before are not due to this patch.
            Set<String> known = new HashSet<>(resource.schema().unknownFields(old));
            warnings.clear();
            warnings.addAll(RequestBodies.strictFaults(resource, patched, repeated, known, request, 422));
            return defaultTolerations.admit(resource, target, patched);
        };
        return write(user, resource, target, request, true, asked -> writer.patch(asked, checked))
                .thenApply(result -> shown(resource, result, warnings));
    }

    private CompletableFuture<ApiResponse> apply(
            User user, Resource resource, RequestTarget target, ApiRequest request) {
        if (request.parameter("fieldManager").isEmpty()) {
            throw badOption("fieldManager: Required value: is required for apply patch");
        }
        List<String> repeated = new ArrayList<>();
        JsonObject raw = RequestBodies.applied(request, resource, repeated::add);
        List<String> warnings = RequestBodies.strictFaults(resource, raw, repeated, Set.of(), request, 422);
        JsonObject wanted = RequestBodies.normalized(resource, raw);
        ObjectMetaRules.checkPlace(wanted, target.namespace(), target.name());
        return write(
                        user,
                        resource,
                        target,
                        request,
                        true,
                        asked -> lookups.decide(
                                asked.turn(),
                                fresh -> asked.parsing(
                                        consulted(asked, wanted),
                                        () -> writer.apply(
                                                asked,
                                                wanted,
                                                request.flag("force"),
                                                object -> defaultTolerations.admit(resource, target, object),
                                                object -> admitted(user, resource, target, object, fresh)))))
                .thenApply(result -> shown(resource, result, warnings));
    }

    private static ApiException badOption(String why) {
        return new ApiException(422, "Invalid", "PatchOptions.meta.k8s.io \"\" is invalid: " + why);
    }

    /** The field manager: the given name, or the client's program. */
    private static String manager(ApiRequest request) {
        String given = request.parameter("fieldManager");
        if (given.length() > FieldOwnership.NAME) {
            throw badOption("fieldManager: Too long: may not be more than " + FieldOwnership.NAME + " bytes");
        }
        // The program name of a user agent, as in Kubernetes; a given name may have slashes.
        return given.isEmpty() ? request.header("user-agent").split("/", 2)[0] : given;
    }

    public CompletableFuture<ApiResponse> delete(
            User user, Resource resource, RequestTarget target, ApiRequest request) {
        DeleteOptions options = DeleteOptions.of(request);
        if (resource.equals(Resources.NAMESPACES) && NamespaceStrategy.IMMORTAL.contains(target.name())) {
            throw new ApiException(
                    403,
                    "Forbidden",
                    "namespaces \"" + target.name() + "\" is forbidden: this namespace may not be deleted");
        }
        return deleter.delete(writeRequest(user, resource, target, options.dryRun()), options)
                .thenApply(result -> {
                    boolean object = !result.gone() || resource.equals(Resources.PODS);
                    return ApiResponse.json(200, object ? result.object() : deleted(resource, result.object()));
                });
    }

    /** Deletes an object, or marks it as deleted; then {@code note} is applied to it. */
    public CompletableFuture<OptimisticRetry.Result> delete(
            WriteRequest write, DeleteOptions options, UnaryOperator<JsonObject> note) {
        return deleter.delete(write, options, note);
    }

    public CompletableFuture<ApiResponse> deleteCollection(
            User user, Resource resource, RequestTarget target, ApiRequest request) {
        DeleteOptions options = DeleteOptions.of(request);
        ListOptions selected = ListOptions.of(resource, request);
        WriteRequest all = writeRequest(user, resource, target, options.dryRun());
        // Not on the thread that completes it, which is the store's: the objects are parsed.
        return Futures.nowOrOn(all.turn(), store.current())
                .thenCompose(current -> collectionDeleter.delete(resource, target.namespace(), all, selected, options))
                .thenApply(done -> ApiResponse.json(200, ApiResponse.success().build()));
    }

    private static JsonObject deleted(Resource resource, JsonObject object) {
        return ApiResponse.success()
                .put(
                        "details",
                        JsonObject.builder()
                                .put("name", object.object("metadata").text("name"))
                                .putUnlessEmpty("group", resource.type().group())
                                .put("kind", resource.type().plural())
                                .put("uid", object.object("metadata").text("uid"))
                                .build())
                .build();
    }

    public static boolean dryRun(ApiRequest request) {
        return DryRun.wanted(request.parameter("dryRun"));
    }

    private static ApiResponse shown(Resource resource, OptimisticRetry.Result result, List<String> faults) {
        List<String> warnings = new ArrayList<>(faults);
        warnings.addAll(resource.strategy().warnings(result::object));
        return shown(result, warnings);
    }

    public static ApiResponse shown(OptimisticRetry.Result result, List<String> warnings) {
        ApiResponse.Full response = ApiResponse.json(result.status(), result.bytes());
        if (warnings.isEmpty()) {
            return response;
        }
        StringBuilder text = new StringBuilder();
        for (String warning : new LinkedHashSet<>(warnings)) {
            String one = "299 - " + Json.write(new JsonString(warning.replaceAll("[^ -~]", "?")));
            if (text.length() + one.length() > WARNING) {
                break;
            }
            // Each line becomes a separate header.
            text.append(text.isEmpty() ? "" : "\n").append(one);
        }
        Map<String, String> headers = new HashMap<>(response.headers());
        headers.put("warning", text.toString());
        return new ApiResponse.Full(response.status(), headers, response.body());
    }
}
