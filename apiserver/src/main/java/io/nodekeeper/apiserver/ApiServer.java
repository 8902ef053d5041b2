package io.nodekeeper.apiserver;

import io.nodekeeper.api.ApiException;
import io.nodekeeper.api.Json;
import io.nodekeeper.api.JsonArray;
import io.nodekeeper.api.JsonObject;
import io.nodekeeper.api.JsonString;
import io.nodekeeper.store.Entry;
import io.nodekeeper.store.Store;
import io.nodekeeper.time.Clock;
import io.nodekeeper.time.Loop;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.UnaryOperator;
import java.util.random.RandomGenerator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The Kubernetes API as a function from requests to answers: who asks, may they, what is it about, then the object's own
 * rules, then the store. It knows no network. Thread-safe.
 */
public final class ApiServer {
    private static final Logger log = LoggerFactory.getLogger(ApiServer.class);

    private final Store store;
    private final Loop loop;
    private final Clock clock;
    private final RandomGenerator random;
    private final Authenticator authenticator;
    private final String serverAddress;
    private final Authorizer authorizer = new Authorizer();
    private final NodeRestriction nodeRestriction = new NodeRestriction();
    private final Reads reads;
    private final Writes writes;
    private final Watches watches;
    private final Health health;
    private final ServerMetrics metrics;

    /**
     * A server of what is in {@code store}.
     *
     * @param loop the store's own loop, on which watches are served
     * @param random for UIDs and generated names; thread-safe unless everything runs on one thread
     * @param serverAddress host and port by which clients reach it, as discovery tells them
     */
    public ApiServer(
            Store store, Loop loop, RandomGenerator random, Authenticator authenticator, String serverAddress) {
        this.store = store;
        this.loop = loop;
        this.clock = loop.clock();
        this.random = random;
        this.authenticator = authenticator;
        this.serverAddress = serverAddress;
        reads = new Reads(store, loop);
        writes = new Writes(store, clock, random);
        watches = new Watches(store, loop, reads, random);
        health = new Health(store);
        metrics = new ServerMetrics(store);
    }

    /** Creates what must be there from the first start on, and begins the server's own upkeep. */
    public CompletableFuture<Void> start(java.time.Duration eventTtl) {
        List<CompletableFuture<?>> created = new ArrayList<>();
        for (String name : NamespaceStrategy.FIXED) {
            if (store.get(Resources.NAMESPACES.key("", name)).isEmpty()) {
                JsonObject namespace = JsonObject.EMPTY.update("metadata", metadata -> metadata.with("name", name));
                created.add(writes.create(Resources.NAMESPACES, "", namespace, false));
            }
        }
        new EventExpiry(store, loop, eventTtl).start();
        new NamespaceReaper(store, loop).start();
        return CompletableFuture.allOf(created.toArray(CompletableFuture[]::new));
    }

    /** From now on {@code /readyz} says that the server is about to stop. */
    public void stopping() {
        health.stop();
    }

    /** Answers {@code request}; the result never fails. */
    public CompletableFuture<ApiResponse> handle(ApiRequest request) {
        boolean watch = isWatch(request);
        RequestInfo info = RequestInfo.of(request.method(), request.path(), watch);
        long began = clock.nanoTime();
        metrics.started(info);
        String auditId = request.header("audit-id").isEmpty() ? MetadataRules.uuid(random) : request.header("audit-id");
        CompletableFuture<ApiResponse> answer;
        try {
            answer = route(request, info);
        } catch (RuntimeException e) {
            answer = CompletableFuture.failedFuture(e);
        }
        return answer.handle((response, error) -> {
            ApiResponse given = error == null ? response : refusal(request, error);
            metrics.finished(info, given.status(), (clock.nanoTime() - began) / 1e9);
            return withHeaders(given, auditId);
        });
    }

    private static boolean isWatch(ApiRequest request) {
        String watch = request.parameter("watch");
        return request.method().equals("GET") && (watch.equals("true") || watch.equals("1"));
    }

    private CompletableFuture<ApiResponse> route(ApiRequest request, RequestInfo info) {
        User user = authenticator.authenticate(request);
        authorizer.check(user, info);
        if (info.resource().isEmpty()) {
            return CompletableFuture.completedFuture(other(request));
        }
        RequestInfo.Target target = info.resource().get();
        Optional<JsonObject> document = Discovery.document(request.path(), serverAddress);
        if (document.isPresent()) {
            return CompletableFuture.completedFuture(ApiResponse.json(200, document.get()));
        }
        Optional<Resource> found = Resources.find(target);
        if (found.isEmpty()) {
            return CompletableFuture.completedFuture(unknown(target));
        }
        Resource resource = found.get();
        checkTarget(resource, target, request.method());
        Media media = Media.of(request);
        return switch (info.verb()) {
            case "get" -> reads.get(resource, target, request, media);
            case "list" -> reads.list(resource, target, request, media);
            case "watch" -> watches.open(resource, target, request, media).thenApply(response -> counted(resource, response));
            case "create" -> create(user, resource, target, request);
            case "update" -> update(user, resource, target, request);
            case "patch" -> patch(user, resource, target, request);
            case "delete" -> delete(user, resource, target, request);
            case "deletecollection" -> deleteCollection(resource, target, request);
            default -> throw notAllowed();
        };
    }

    private ApiResponse other(ApiRequest request) {
        if (Health.covers(request.path())) {
            return health.answer(request);
        }
        if (request.path().equals("/metrics")) {
            return new ApiResponse.Full(
                    200, Map.of("content-type", "text/plain; version=0.0.4; charset=utf-8"), metrics.expose());
        }
        return Discovery.document(request.path(), serverAddress)
                .<ApiResponse>map(document -> ApiResponse.json(200, document))
                .orElseGet(() -> ApiResponse.text(404, "404 page not found\n"));
    }

    private static ApiResponse unknown(RequestInfo.Target target) {
        boolean knownGroup = Resources.ALL.stream()
                .anyMatch(resource -> resource.type().group().equals(target.group())
                        && resource.type().version().equals(target.version()));
        return knownGroup
                ? ApiResponse.refusal(
                        new ApiException(404, "NotFound", "the server could not find the requested resource"))
                : ApiResponse.text(404, "404 page not found\n");
    }

    private static void checkTarget(Resource resource, RequestInfo.Target target, String method) {
        boolean status = target.subresource().equals("status") && resource.hasStatus();
        boolean wrongScope = target.namespace().isEmpty() == resource.type().namespaced()
                && !(target.namespace().isEmpty() && target.name().isEmpty());
        if (wrongScope || (!target.subresource().isEmpty() && !status)) {
            throw new ApiException(404, "NotFound", "the server could not find the requested resource");
        }
        boolean collection = target.name().isEmpty();
        boolean allowed =
                switch (method) {
                    case "GET", "HEAD" -> true;
                    case "POST" -> collection && !(resource.type().namespaced() && target.namespace().isEmpty());
                    case "PUT", "PATCH" -> !collection;
                    case "DELETE" -> !status && !(collection && resource.equals(Resources.NAMESPACES));
                    default -> false;
                };
        if (!allowed) {
            throw notAllowed();
        }
    }

    private static ApiException notAllowed() {
        return new ApiException(
                405, "MethodNotAllowed", "the server does not allow this method on the requested resource");
    }

    private CompletableFuture<ApiResponse> create(
            User user, Resource resource, RequestInfo.Target target, ApiRequest request) {
        JsonObject raw = Bodies.object(request);
        Bodies.check(resource, raw, 400);
        List<String> warnings = Bodies.unknownFields(resource, raw, request, 400);
        JsonObject body = normalized(resource, raw);
        MetadataRules.checkPlace(body, target.namespace(), "");
        nodeRestriction.check(user, resource, target, JsonObject.EMPTY, body);
        return writes.create(resource, target.namespace(), body, dryRun(request))
                .thenApply(result -> warned(ApiResponse.json(result.status(), result.object()), warnings));
    }

    private CompletableFuture<ApiResponse> update(
            User user, Resource resource, RequestInfo.Target target, ApiRequest request) {
        JsonObject raw = Bodies.object(request);
        Bodies.check(resource, raw, 400);
        List<String> warnings = Bodies.unknownFields(resource, raw, request, 400);
        JsonObject body = normalized(resource, raw);
        MetadataRules.checkPlace(body, target.namespace(), target.name());
        restrict(user, resource, target, old -> body);
        return writes.update(resource, target, body, dryRun(request))
                .thenApply(result -> warned(ApiResponse.json(result.status(), result.object()), warnings));
    }

    private CompletableFuture<ApiResponse> patch(
            User user, Resource resource, RequestInfo.Target target, ApiRequest request) {
        UnaryOperator<JsonObject> patch = Bodies.patch(request, resource.schema());
        List<String> warnings = new ArrayList<>();
        UnaryOperator<JsonObject> checked = old -> {
            JsonObject patched = patch.apply(old);
            warnings.clear();
            warnings.addAll(Bodies.unknownFields(resource, patched, request, 422));
            return patched;
        };
        restrict(user, resource, target, patch);
        return writes.patch(resource, target, checked, dryRun(request))
                .thenApply(result -> warned(ApiResponse.json(result.status(), result.object()), warnings));
    }

    /**
     * Looks at what a node is about to write. The state can change before the write lands, but nothing that it guards
     * against depends on the state: a patch that touches taints or another's labels does so on any state.
     */
    private void restrict(
            User user, Resource resource, RequestInfo.Target target, UnaryOperator<JsonObject> change) {
        if (!user.in(User.NODES)) {
            return;
        }
        JsonObject old = store.get(resource.key(target.namespace(), target.name()))
                .map(resource.codec()::decode)
                .orElse(JsonObject.EMPTY);
        JsonObject next = change.apply(old);
        if (!target.subresource().isEmpty()) {
            next = old.get("spec").isPresent() ? next.with("spec", old.object("spec")) : next.without("spec");
        }
        nodeRestriction.check(user, resource, target, old, next);
    }

    private CompletableFuture<ApiResponse> delete(
            User user, Resource resource, RequestInfo.Target target, ApiRequest request) {
        JsonObject options = deleteOptions(request);
        if (resource.equals(Resources.NAMESPACES) && NamespaceStrategy.IMMORTAL.contains(target.name())) {
            throw new ApiException(
                    403,
                    "Forbidden",
                    "namespaces \"" + target.name() + "\" is forbidden: this namespace may not be deleted");
        }
        restrict(user, resource, target, old -> old);
        return writes.delete(resource, target, options).thenApply(result -> {
            boolean object = !result.gone() || resource.equals(Resources.PODS);
            return ApiResponse.json(200, object ? result.object() : deleted(resource, result.object()));
        });
    }

    private CompletableFuture<ApiResponse> deleteCollection(
            Resource resource, RequestInfo.Target target, ApiRequest request) {
        JsonObject options = deleteOptions(request);
        ListOptions selected = ListOptions.of(resource, request);
        List<CompletableFuture<?>> deletions = new ArrayList<>();
        for (Entry entry : store.list(resource.prefix(target.namespace()), "", 0, 0).entries()) {
            if (selected.matches(resource, entry)) {
                JsonObject metadata = resource.codec().decode(entry).object("metadata");
                RequestInfo.Target one = new RequestInfo.Target(
                        target.group(),
                        target.version(),
                        target.plural(),
                        metadata.text("namespace"),
                        metadata.text("name"),
                        "");
                deletions.add(writes.delete(resource, one, options).exceptionally(error -> {
                    if (cause(error) instanceof ApiException refused && refused.code() == 404) {
                        return new Writes.Result(200, JsonObject.EMPTY, true);
                    }
                    throw new CompletionException(cause(error));
                }));
            }
        }
        return CompletableFuture.allOf(deletions.toArray(CompletableFuture[]::new))
                .thenApply(done -> ApiResponse.json(
                        200,
                        JsonObject.builder()
                                .put("kind", "Status")
                                .put("apiVersion", "v1")
                                .put("metadata", JsonObject.EMPTY)
                                .put("status", "Success")
                                .build()));
    }

    private static JsonObject deleteOptions(ApiRequest request) {
        JsonObject options = Bodies.object(request);
        if (!request.parameter("gracePeriodSeconds").isEmpty()) {
            long seconds = ListOptions.number("gracePeriodSeconds", request.parameter("gracePeriodSeconds"))
                    .orElse(0L);
            options = options.toBuilder().put("gracePeriodSeconds", seconds).build();
        }
        if (dryRun(request)) {
            options = options.with("dryRun", JsonArray.of(new JsonString("All")));
        }
        return options;
    }

    private static JsonObject deleted(Resource resource, JsonObject object) {
        return JsonObject.builder()
                .put("kind", "Status")
                .put("apiVersion", "v1")
                .put("metadata", JsonObject.EMPTY)
                .put("status", "Success")
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

    private static boolean dryRun(ApiRequest request) {
        String mode = request.parameter("dryRun");
        if (!mode.isEmpty() && !mode.equals("All")) {
            throw new ApiException(
                    422,
                    "Invalid",
                    "dryRun: Unsupported value: []string{\"" + mode + "\"}: supported values: \"All\"");
        }
        return !mode.isEmpty();
    }

    private static JsonObject normalized(Resource resource, JsonObject object) {
        return (JsonObject) Codec.normalize(object, Optional.of(resource.schema()));
    }

    private ApiResponse counted(Resource resource, ApiResponse response) {
        if (response instanceof ApiResponse.Streamed streamed) {
            return new ApiResponse.Streamed(streamed.status(), streamed.headers(), sink -> {
                metrics.watchOpened(resource);
                sink.onClose(() -> metrics.watchClosed(resource));
                streamed.start().accept(sink);
            });
        }
        return response;
    }

    private static ApiResponse warned(ApiResponse.Full response, List<String> warnings) {
        if (warnings.isEmpty()) {
            return response;
        }
        Map<String, String> headers = new HashMap<>(response.headers());
        headers.put("warning", "299 - " + Json.write(new JsonString(String.join(", ", warnings))));
        return new ApiResponse.Full(response.status(), headers, response.body());
    }

    private static ApiResponse refusal(ApiRequest request, Throwable error) {
        if (cause(error) instanceof ApiException refused) {
            ApiResponse.Full response = ApiResponse.refusal(refused);
            Optional<Long> retry = refused.details().number("retryAfterSeconds");
            if (retry.isPresent()) {
                Map<String, String> headers = new HashMap<>(response.headers());
                headers.put("retry-after", Long.toString(retry.get()));
                return new ApiResponse.Full(response.status(), headers, response.body());
            }
            return response;
        }
        log.error("{} {} failed", request.method(), request.path(), cause(error));
        return ApiResponse.refusal(
                new ApiException(500, "InternalError", "Internal error occurred: " + cause(error)));
    }

    private static ApiResponse withHeaders(ApiResponse response, String auditId) {
        Map<String, String> headers = new HashMap<>(response.headers());
        headers.put("audit-id", auditId);
        headers.put("cache-control", "no-cache, private");
        if (response.status() == 403) {
            headers.put("x-content-type-options", "nosniff");
        }
        return switch (response) {
            case ApiResponse.Full full -> new ApiResponse.Full(full.status(), headers, full.body());
            case ApiResponse.Streamed streamed ->
                new ApiResponse.Streamed(streamed.status(), headers, streamed.start());
        };
    }

    private static Throwable cause(Throwable error) {
        return error instanceof CompletionException && error.getCause() != null ? error.getCause() : error;
    }
}
