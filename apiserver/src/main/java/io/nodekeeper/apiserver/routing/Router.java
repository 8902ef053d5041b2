package io.nodekeeper.apiserver.routing;

import io.nodekeeper.api.ApiException;
import io.nodekeeper.api.selector.FieldSelector;
import io.nodekeeper.apiserver.actions.Action;
import io.nodekeeper.apiserver.catalogue.RequestInfo;
import io.nodekeeper.apiserver.catalogue.Resources;
import io.nodekeeper.apiserver.metrics.ServerMetrics;
import io.nodekeeper.apiserver.negotiation.Media;
import io.nodekeeper.apiserver.reads.ReadHandler;
import io.nodekeeper.apiserver.registry.Resource;
import io.nodekeeper.apiserver.registry.Subresource;
import io.nodekeeper.apiserver.request.ApiRequest;
import io.nodekeeper.apiserver.request.ApiResponse;
import io.nodekeeper.apiserver.request.Refusals;
import io.nodekeeper.apiserver.request.RequestTarget;
import io.nodekeeper.apiserver.request.User;
import io.nodekeeper.apiserver.watches.WatchHandler;
import io.nodekeeper.apiserver.writes.WriteHandler;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

/** Dispatches requests for objects to their handlers, using the catalogue. Thread-safe. */
public final class Router {
    private static final String WATCH_PREFIX = "/watch/";
    private static final List<String> COLLECTION_VERBS = List.of("list", "watch", "create", "deletecollection");

    private final ReadHandler reads;
    private final WatchHandler watches;
    private final WriteHandler writes;
    private final ServerMetrics metrics;
    private final Map<String, Action> actions;

    /**
     * {@code actions} are the requests that read or write no object of their own, by the path of the resource and the subresource after a
     * slash.
     */
    public Router(
            ReadHandler reads,
            WatchHandler watches,
            WriteHandler writes,
            ServerMetrics metrics,
            Map<String, Action> actions) {
        this.reads = reads;
        this.watches = watches;
        this.writes = writes;
        this.metrics = metrics;
        this.actions = Map.copyOf(actions);
    }

    public CompletableFuture<ApiResponse> answer(
            User user, ApiRequest request, RequestInfo info, RequestTarget target) {
        if (info.known().isEmpty()) {
            return CompletableFuture.completedFuture(unknown(target));
        }
        Resource resource = info.known().get();
        if (info.verb().equals("watch") && request.path().contains(WATCH_PREFIX)) {
            checkPrefixed(request, target);
            if (!target.name().isEmpty()) {
                return answer(user, selecting(request, target.name()), info, target.collection());
            }
        }
        checkTarget(resource, target, info.verb());
        // A node answers its proxy's requests, in any form.
        Media media = target.subresource().equals("proxy") ? Media.JSON : Media.of(request, info.verb());
        CompletableFuture<ApiResponse> answer = done(user, resource, target, request, info.verb(), media);
        return media.yaml() ? answer.thenApply(media::encoded) : answer;
    }

    /** Below {@code /watch/} only a GET of objects is served. */
    private static void checkPrefixed(ApiRequest request, RequestTarget target) {
        if (!target.subresource().isEmpty()) {
            throw Refusals.notServed();
        }
        if (!request.method().equals("GET")) {
            throw Refusals.notAllowed();
        }
    }

    /** A watch of only the object {@code name}, which its selector must not exclude. */
    private static ApiRequest selecting(ApiRequest request, String name) {
        String own = request.parameter("fieldSelector");
        for (FieldSelector.Term term : FieldSelector.parse(own).terms()) {
            if (term.field().equals("metadata.name")
                    && term.equal() != term.value().equals(name)) {
                throw ApiException.badRequest(
                        "fieldSelector \"" + own + "\" excludes the object \"" + name + "\" that the path names");
            }
        }
        return request.withParameter("fieldSelector", "metadata.name=" + name + (own.isEmpty() ? "" : "," + own));
    }

    private CompletableFuture<ApiResponse> done(
            User user, Resource resource, RequestTarget target, ApiRequest request, String verb, Media media) {
        Action action = actions.get(resource.type().path() + "/" + target.subresource());
        if (action != null) {
            return action.on(user, resource, target, request);
        }
        if (verb.equals("create") && !target.subresource().isEmpty()) {
            throw Refusals.notServed();
        }
        CompletableFuture<ApiResponse> answer = switch (verb) {
            case "get" -> reads.get(user, resource, target, request, media);
            case "list" -> reads.list(user, resource, target, request, media);
            case "watch" ->
                watches.open(resource, target, request, media).thenApply(response -> counted(resource, response));
            case "create" -> writes.create(user, resource, target, request);
            case "update" -> writes.update(user, resource, target, request);
            case "patch" -> writes.patch(user, resource, target, request);
            case "delete" -> writes.delete(user, resource, target, request);
            case "deletecollection" -> writes.deleteCollection(user, resource, target, request);
            default -> throw Refusals.notAllowed();
        };
        return media.metadata() && !verb.equals("list") ? answer.thenApply(media::written) : answer;
    }

    private static ApiResponse unknown(RequestTarget target) {
        boolean knownGroup = Resources.ALL.stream()
                .anyMatch(resource -> resource.type().group().equals(target.group())
                        && resource.type().version().equals(target.version()));
        return knownGroup ? ApiResponse.refusal(Refusals.notServed()) : ApiResponse.text(404, "404 page not found\n");
    }

    private static void checkTarget(Resource resource, RequestTarget target, String verb) {
        boolean everywhere = target.namespace().isEmpty();
        boolean wrongScope = everywhere == resource.type().namespaced()
                && !(everywhere && target.name().isEmpty());
        List<String> verbs = target.subresource().isEmpty()
                ? resource.verbs()
                : resource.subresource(target.subresource())
                        .map(Subresource::verbs)
                        .orElse(List.of());
        if (wrongScope || verbs.isEmpty()) {
            throw Refusals.notServed();
        }
        boolean needsNamespace =
                resource.type().namespaced() && (verb.equals("create") || verb.equals("deletecollection"));
        boolean named = !target.name().isEmpty();
        boolean wantsName = !target.subresource().isEmpty() || !COLLECTION_VERBS.contains(verb);
        if (!verbs.contains(verb) || (needsNamespace && everywhere) || named != wantsName) {
            throw Refusals.notAllowed();
        }
    }

    private ApiResponse counted(Resource resource, ApiResponse response) {
        if (response instanceof ApiResponse.Streamed streamed) {
            return new ApiResponse.Streamed(
                    streamed.status(),
                    streamed.headers(),
                    sink -> streamed.start().accept(metrics.watchOpened(resource, sink)));
        }
        return response;
    }
}
