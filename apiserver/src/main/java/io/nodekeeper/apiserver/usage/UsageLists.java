package io.nodekeeper.apiserver.usage;

import io.nodekeeper.api.ApiException;
import io.nodekeeper.api.KubeTime;
import io.nodekeeper.api.json.JsonArray;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.api.json.JsonValue;
import io.nodekeeper.apiserver.catalogue.Resources;
import io.nodekeeper.apiserver.negotiation.Media;
import io.nodekeeper.apiserver.nodecalls.NodeAddress;
import io.nodekeeper.apiserver.nodecalls.NodeObject;
import io.nodekeeper.apiserver.reads.ListOptions;
import io.nodekeeper.apiserver.registry.Resource;
import io.nodekeeper.apiserver.request.ApiRequest;
import io.nodekeeper.apiserver.request.ApiResponse;
import io.nodekeeper.apiserver.request.RequestTarget;
import io.nodekeeper.apiserver.request.ResponseChunks;
import io.nodekeeper.apiserver.request.User;
import io.nodekeeper.store.Entry;
import io.nodekeeper.store.Store;
import io.nodekeeper.time.Clock;
import io.nodekeeper.time.Futures;
import io.nodekeeper.time.GoDuration;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Stream;

/**
 * Answers gets and lists of {@code metrics.k8s.io}: nodes, and pods that run, whose usage is known. Thread-safe.
 */
public final class UsageLists {
    private final Store store;
    private final NodeUsage usage;
    private final Clock clock;
    private final Executor workers;
    private final Function<User, Executor> turns;

    /**
     * Finds nodes and pods in {@code store}, and decodes large ones in the {@code turns} of who asks. Once nodes have answered, {@code
     * workers} finish gets, and {@code turns} lists.
     */
    public UsageLists(Store store, NodeUsage usage, Clock clock, Executor workers, Function<User, Executor> turns) {
        this.store = store;
        this.usage = usage;
        this.clock = clock;
        this.workers = workers;
        this.turns = turns;
    }

    /** The usage of nodes. */
    public CompletableFuture<ApiResponse> nodes(
            User user, Resource resource, RequestTarget target, ApiRequest request) {
        Answer answer = new Answer(user, resource, target, request);
        return answer.of(answer.selected(Resources.NODES, node -> true), Found::name, this::node);
    }

    /** The usage of pods. */
    public CompletableFuture<ApiResponse> pods(User user, Resource resource, RequestTarget target, ApiRequest request) {
        Answer answer = new Answer(user, resource, target, request);
        CompletableFuture<List<Found>> running = answer.selected(
                Resources.PODS, pod -> pod.object("status").text("phase").equals("Running"));
        return answer.of(running, Found::node, this::pod);
    }

    private CompletableFuture<Optional<Measured>> ask(String node, Executor turn) {
        return store.get(Resources.NODES.key("", node))
                .map(entry -> store.load(entry)
                        .thenCompose(loaded -> NodeObject.decoded(Resources.NODES, loaded, turn))
                        .thenCompose(object -> ask(node, object)))
                .orElseGet(UsageLists::unknown);
    }

    private CompletableFuture<Optional<Measured>> ask(String node, JsonObject object) {
        return NodeAddress.of(object).map(place -> usage.of(node, place)).orElseGet(UsageLists::unknown);
    }

    private static CompletableFuture<Optional<Measured>> unknown() {
        return CompletableFuture.completedFuture(Optional.empty());
    }

    /** What an answer needs of a node or pod while it waits for the nodes, so that it does not keep whole objects. */
    private record Found(String name, String namespace, String uid, Optional<JsonValue> labels, String node) {
        /**
         * The most bytes of labels, in JSON, that an answer shows: hundreds of answers may wait for nodes, and labels in memory take
         * ten times their bytes. Real ones have some hundred.
         */
        private static final int LABELS = 16 << 10;

        private static Found of(JsonObject object) {
            JsonObject metadata = object.object("metadata");
            return new Found(
                    metadata.text("name"),
                    metadata.text("namespace"),
                    metadata.text("uid"),
                    metadata.get("labels").filter(Found::isShort),
                    object.object("spec").text("nodeName"));
        }

        private static boolean isShort(JsonValue labels) {
            return labels instanceof JsonObject all
                    && all.texts().entrySet().stream()
                                    .mapToLong(label -> label.getKey().length()
                                            + label.getValue().length())
                                    .sum()
                            <= LABELS;
        }
    }

    private Optional<JsonObject> node(Found node, Measured measured) {
        return measured.node()
                .map(used -> head(node, used.time(), used.window())
                        .put("usage", used.json())
                        .build());
    }

    private Optional<JsonObject> pod(Found pod, Measured measured) {
        return measured.pod(pod.uid).map(containers -> {
            Instant time = containers.values().stream()
                    .map(Usage::time)
                    .min(Comparator.naturalOrder())
                    .orElseThrow();
            Duration window = containers.values().stream()
                    .map(Usage::window)
                    .max(Comparator.naturalOrder())
                    .orElseThrow();
            List<JsonValue> each = new ArrayList<>();
            containers.forEach((name, used) -> each.add(JsonObject.builder()
                    .put("name", name)
                    .put("usage", used.json())
                    .build()));
            return head(pod, time, window)
                    .put("containers", new JsonArray(each))
                    .build();
        });
    }

    private JsonObject.Builder head(Found object, Instant time, Duration window) {
        JsonObject.Builder own = JsonObject.builder()
                .put("name", object.name)
                .putUnlessEmpty("namespace", object.namespace)
                .put("creationTimestamp", KubeTime.format(clock.wallTime()));
        object.labels.ifPresent(labels -> own.put("labels", labels));
        return JsonObject.builder()
                .put("metadata", own.build())
                .put("timestamp", KubeTime.format(time))
                .put("window", GoDuration.format(Duration.ofMillis(window.toMillis())));
    }

    /** The usage of an object, if its node said it. */
    private interface Item {
        Optional<JsonObject> of(Found object, Measured node);
    }

    /** One answer. */
    private final class Answer {
        private final Resource resource;
        private final RequestTarget target;
        private final ListOptions options;
        private final Media media;
        private final boolean isList;
        private final Executor turn;
        /** Finishes the answer. */
        private final Executor last;

        private Answer(User user, Resource resource, RequestTarget target, ApiRequest request) {
            this.resource = resource;
            this.target = target;
            isList = target.name().isEmpty();
            turn = turns.apply(user);
            last = isList ? turn : workers;
            options = ListOptions.of(resource, request);
            media = Media.of(request, isList ? "list" : "get");
        }

        /** The stored objects that the request names and that are {@code shown}. */
        private CompletableFuture<List<Found>> selected(Resource kind, Predicate<JsonObject> shown) {
            if (!isList) {
                return store.read(kind.key(target.namespace(), target.name()))
                        .thenCompose(found -> NodeObject.decoded(
                                kind,
                                found.orElseThrow(() -> ApiException.notFound(resource.type(), target.name())),
                                turn))
                        .thenApply(object ->
                                Stream.of(object).filter(shown).map(Found::of).toList());
            }
            return Futures.nowOrOn(turn, store.current())
                    .thenApply(revision -> store.list(kind.prefix(target.namespace()), "", 0, 0)
                            .entries())
                    .thenCompose(entries -> examined(kind, shown, entries, 0, new ArrayList<>()));
        }

        /**
         * Reads {@code entries} from {@code first} on, one after the other, each of which is garbage afterwards. As for a chunk of a
         * list, others have their turn after some of them.
         */
        private CompletableFuture<List<Found>> examined(
                Resource kind, Predicate<JsonObject> shown, List<Entry> entries, int first, List<Found> found) {
            int next = first;
            for (long bytes = 0; next < entries.size() && bytes < ResponseChunks.EXAMINED; next++) {
                Entry entry = entries.get(next);
                bytes += entry.length();
                JsonObject object = kind.codec().decode(entry);
                if (options.matches(resource, object) && shown.test(object)) {
                    found.add(Found.of(object));
                }
            }
            int rest = next;
            return rest == entries.size()
                    ? CompletableFuture.completedFuture(found)
                    : Futures.startOn(turn, () -> examined(kind, shown, entries, rest, found));
        }

        /** Asks the nodes of all objects, whose names {@code nodeName} gives. */
        private CompletableFuture<ApiResponse> of(
                CompletableFuture<List<Found>> selected, Function<Found, String> nodeName, Item item) {
            return selected.thenCompose(objects -> {
                Map<String, CompletableFuture<Optional<Measured>>> asked = new HashMap<>();
                objects.forEach(object -> asked.computeIfAbsent(nodeName.apply(object), node -> ask(node, turn)));
                return CompletableFuture.allOf(asked.values().toArray(CompletableFuture[]::new))
                        .thenApplyAsync(
                                done -> {
                                    Map<String, Optional<Measured>> answers = new HashMap<>();
                                    asked.forEach((node, answer) -> answers.put(node, answer.join()));
                                    return answer(objects.stream()
                                            .flatMap(object -> answers
                                                    .getOrDefault(nodeName.apply(object), Optional.empty())
                                                    .flatMap(node -> item.of(object, node))
                                                    .stream())
                                            .toList());
                                },
                                last);
            });
        }

        private ApiResponse answer(List<JsonObject> items) {
            if (media.table()) {
                return ApiResponse.json(
                        200, resource.table().render(items, media, true, JsonObject.EMPTY, clock.wallTime()));
            }
            if (!isList) {
                JsonObject item = items.stream()
                        .findFirst()
                        .orElseThrow(() -> ApiException.notFound(resource.type(), target.name()));
                return ApiResponse.json(200, media.metadata() ? media.metadataOf(item) : whole(item));
            }
            return ApiResponse.json(
                    200,
                    media.metadata()
                            ? media.metadataOf(items, JsonObject.EMPTY)
                            : typed("List")
                                    .put("metadata", JsonObject.EMPTY)
                                    .put("items", JsonArray.of(items.toArray(JsonObject[]::new)))
                                    .build());
        }

        private JsonObject whole(JsonObject item) {
            JsonObject.Builder typed = typed("");
            item.fields().forEach(typed::put);
            return typed.build();
        }

        private JsonObject.Builder typed(String suffix) {
            return JsonObject.builder()
                    .put("kind", resource.type().kind() + suffix)
                    .put("apiVersion", resource.type().apiVersion());
        }
    }
}
