package io.nodekeeper.controller.debug;

import io.nodekeeper.api.Failures;
import io.nodekeeper.api.KubeTime;
import io.nodekeeper.api.json.JsonArray;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.api.json.JsonValue;
import io.nodekeeper.client.pages.Page;
import io.nodekeeper.client.pages.Pages;
import io.nodekeeper.controller.ControllerView;
import io.nodekeeper.controller.history.Decision;
import io.nodekeeper.controller.history.DecisionQuery;
import io.nodekeeper.controller.history.SearchableHistory;
import io.nodekeeper.controller.metrics.ControllerMetrics;
import io.nodekeeper.time.DeadlineExceededException;
import io.nodekeeper.time.Deadlines;
import io.nodekeeper.time.Loop;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;

/**
 * The controller's pages, whatever serves them: {@code /metrics}, {@code /healthz}, {@code /readyz},
 * {@code /debug/nodes}, {@code /debug/nodes/NAME}, {@code /debug/sight}, {@code /debug/lag} and, when it only
 * observes, {@code /debug/observe}. Reads only. Thread-safe.
 */
public final class DebugPages implements Pages {
    /** How long the controller may take to answer; a loop that takes longer stands still. Chosen. */
    private static final Duration ANSWER_LIMIT = Duration.ofSeconds(2);
    /** How long a page with decisions may take, as they may come from a disk. Chosen. */
    private static final Duration HISTORY_LIMIT = Duration.ofSeconds(15);
    /** Decisions on a page unless {@code limit} says otherwise, and at most. Chosen. */
    private static final int DECISIONS = 20;
    /** See {@link #DECISIONS}. */
    private static final int MOST_DECISIONS = 1_000;

    private static final String NODE = "/debug/nodes/";
    private static final List<String> PATHS =
            List.of("/metrics", "/healthz", "/readyz", "/debug/nodes", NODE + "NAME", "/debug/sight", "/debug/lag");

    private final ControllerView view;
    private final SearchableHistory history;
    private final ControllerMetrics metrics;
    private final Loop loop;
    private final Loop timer;
    private final Map<String, Supplier<JsonObject>> more = new LinkedHashMap<>();

    /**
     * Pages of one controller.
     *
     * @param loop the controller's, on which {@code history} lives
     * @param timer another loop, which times answers out even while the controller's stands still
     */
    public DebugPages(
            ControllerView view, SearchableHistory history, ControllerMetrics metrics, Loop loop, Loop timer) {
        this.view = view;
        this.history = history;
        this.metrics = metrics;
        this.loop = loop;
        this.timer = timer;
    }

    /** Adds a page at {@code path}, made on the controller's loop; to be called before any is served. */
    public DebugPages with(String path, Supplier<JsonObject> page) {
        more.put(path, page);
        return this;
    }

    @Override
    public CompletableFuture<Page> get(String path, String query) {
        try {
            return route(path, query).exceptionally(DebugPages::failure);
        } catch (IllegalArgumentException e) {
            return now(Page.text(400, Failures.text(e)));
        }
    }

    private CompletableFuture<Page> route(String path, String query) {
        return switch (path) {
            case "/", "/debug" -> now(Page.text(200, String.join("\n", paths())));
            case "/metrics" -> now(new Page(200, "text/plain; version=0.0.4; charset=utf-8", metrics.scrape()));
            case "/healthz", "/livez" -> within(view.unready()).thenApply(reason -> health());
            case "/readyz" -> within(view.unready()).thenApply(this::readiness);
            case "/debug/nodes" -> within(view.nodes()).thenApply(Page::json);
            case "/debug/sight" -> within(view.sight()).thenApply(Page::json);
            case "/debug/lag" -> within(view.lag()).thenApply(Page::json);
            default -> {
                if (path.startsWith(NODE)) {
                    yield node(decoded(path.substring(NODE.length())), query);
                }
                Supplier<JsonObject> page = more.get(path);
                yield page == null
                        ? now(Page.text(404, "404 page not found; there are " + String.join(", ", paths())))
                        : within(CompletableFuture.supplyAsync(page, loop)).thenApply(Page::json);
            }
        };
    }

    private Page health() {
        return view.unhealthy().map(why -> Page.text(503, why)).orElseGet(() -> Page.text(200, "ok"));
    }

    /** A standby is ready: a rollout that waited for it to work would wait for the leader that it is to replace. */
    private Page readiness(Optional<String> unready) {
        return view.standby()
                .map(why -> Page.text(200, "ok: " + why))
                .or(() -> unready.map(why -> Page.text(503, why)))
                .orElseGet(() -> Page.text(200, "ok"));
    }

    private List<String> paths() {
        List<String> paths = new ArrayList<>(PATHS);
        paths.addAll(more.keySet());
        return paths;
    }

    /** What is known of a node and what was decided about it. */
    private CompletableFuture<Page> node(String name, String query) {
        DecisionQuery wanted = wanted(name, parameters(query));
        CompletableFuture<List<Decision>> decisions =
                CompletableFuture.supplyAsync(() -> wanted, loop).thenCompose(history::find);
        return Deadlines.within(timer, HISTORY_LIMIT, "the controller's history", decisions)
                .thenCombine(within(view.node(name)), (found, facts) -> page(name, found, facts));
    }

    private static Page page(String name, List<Decision> found, Optional<JsonObject> facts) {
        if (found.isEmpty() && facts.isEmpty()) {
            return Page.text(404, "node \"" + name + "\" is not followed, and no decision about it is kept");
        }
        JsonObject.Builder json = JsonObject.builder().put("name", name);
        facts.ifPresent(known -> json.put("node", known));
        return Page.json(json.put(
                        "decisions",
                        new JsonArray(
                                found.stream().<JsonValue>map(Decision::json).toList()))
                .build());
    }

    private static DecisionQuery wanted(String name, Map<String, String> parameters) {
        String at = parameters.getOrDefault("at", "");
        Optional<Instant> time = KubeTime.parse(at);
        if (!at.isEmpty() && time.isEmpty()) {
            throw new IllegalArgumentException("at is \"" + at + "\"; expected a time like 2026-11-21T09:07:17Z");
        }
        String limit = parameters.getOrDefault("limit", Integer.toString(DECISIONS));
        if (!limit.matches("[1-9]\\d{0,3}") || Integer.parseInt(limit) > MOST_DECISIONS) {
            throw new IllegalArgumentException("limit is \"" + limit + "\"; expected 1 to " + MOST_DECISIONS);
        }
        return new DecisionQuery(name, time, Integer.parseInt(limit));
    }

    private static Map<String, String> parameters(String query) {
        Map<String, String> parameters = new LinkedHashMap<>();
        for (String pair : query.split("&")) {
            String[] parts = pair.split("=", 2);
            parameters.put(decoded(parts[0]), parts.length == 2 ? decoded(parts[1]) : "");
        }
        return parameters;
    }

    private static String decoded(String text) {
        return URLDecoder.decode(text, StandardCharsets.UTF_8);
    }

    private <T> CompletableFuture<T> within(CompletableFuture<T> answer) {
        return Deadlines.within(timer, ANSWER_LIMIT, "the controller", answer);
    }

    private static CompletableFuture<Page> now(Page page) {
        return CompletableFuture.completedFuture(page);
    }

    private static Page failure(Throwable error) {
        boolean stuck = Failures.cause(error) instanceof DeadlineExceededException;
        return Page.text(stuck ? 503 : 500, Failures.text(error));
    }
}
