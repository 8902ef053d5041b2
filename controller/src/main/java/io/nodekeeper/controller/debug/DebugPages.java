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
import io.nodekeeper.controller.history.Search;
import io.nodekeeper.controller.history.SearchableHistory;
import io.nodekeeper.controller.metrics.ControllerMetrics;
import io.nodekeeper.controller.observe.Observation;
import io.nodekeeper.controller.observe.report.ObserveReport;
import io.nodekeeper.controller.observe.report.Period;
import io.nodekeeper.time.DeadlineExceededException;
import io.nodekeeper.time.Deadlines;
import io.nodekeeper.time.GoDuration;
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
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;

/**
 * Serves the controller's pages: {@code /metrics}, {@code /healthz}, {@code /readyz}, {@code /debug/nodes}, {@code
 * /debug/nodes/NAME}, {@code /debug/sight}, {@code /debug/lag}, {@code /debug/status}, {@code /debug/fleet} and, in observe mode, {@code
 * /debug/observe} and {@code /debug/observe-report}. Read-only. Thread-safe.
 */
public final class DebugPages implements Pages {
    /**
     * How long the controller's loop may take to answer: usually milliseconds, so that a slower loop hangs; below the
     * usual 10 s of a Prometheus scrape.
     */
    private static final Duration ANSWER_LIMIT = Duration.ofSeconds(2);
    /** How long a page with decisions may take: longer than the 10 s deadline for reading them from disk. */
    private static final Duration HISTORY_LIMIT = Duration.ofSeconds(15);
    /** The default number of decisions on a page: some outages of one node, which fit a screen or two. */
    private static final int DECISIONS = 20;
    /** See {@link #DECISIONS}. */
    private static final int MOST_DECISIONS = 1_000;

    /** The default period of a report: the one since yesterday's. */
    private static final String PERIOD = "24h";
    /** The longest period of a report, a year: a history of the default size has far less. */
    private static final Duration LONGEST_PERIOD = Duration.ofDays(366);

    private static final String NODE = "/debug/nodes/";
    private static final String OBSERVE = "/debug/observe";
    private static final String REPORT = "/debug/observe-report";
    private static final List<String> PATHS = List.of(
            "/metrics",
            "/healthz",
            "/readyz",
            "/debug/nodes",
            NODE + "NAME",
            "/debug/sight",
            "/debug/lag",
            "/debug/status",
            "/debug/fleet");

    private final ControllerView view;
    private final SearchableHistory history;
    private final ControllerMetrics metrics;
    private final Loop loop;
    private final Loop timer;
    private final SharedPage nodes;
    private final SharedPage status;
    private final SharedPage fleet;
    private final Map<String, Supplier<JsonObject>> more = new LinkedHashMap<>();
    private final AtomicBoolean reporting = new AtomicBoolean();
    private Optional<Observation> observation = Optional.empty();

    /**
     * Pages of one controller.
     * @param loop the controller's, to which {@code history} is confined
     * @param timer another loop, which writes the pages, and whose deadlines work while the controller's loop hangs
     */
    public DebugPages(
            ControllerView view, SearchableHistory history, ControllerMetrics metrics, Loop loop, Loop timer) {
        this.view = view;
        this.history = history;
        this.metrics = metrics;
        this.loop = loop;
        this.timer = timer;
        this.nodes = new SharedPage(() -> json(view.nodes()), timer.clock());
        this.status = new SharedPage(() -> json(view.status()), timer.clock());
        this.fleet = new SharedPage(() -> json(view.fleet()), timer.clock());
    }

    /** Adds a page at {@code path}, created on the controller's loop; call it before pages are served. */
    public DebugPages with(String path, Supplier<JsonObject> page) {
        more.put(path, page);
        return this;
    }

    /** Adds the pages of an observation; call it before pages are served. */
    public DebugPages observing(Observation observed) {
        observation = Optional.of(observed);
        return with(OBSERVE, observed::json);
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
            case "/debug/nodes" -> nodes.get();
            case "/debug/status" -> status.get();
            case "/debug/fleet" -> fleet.get();
            case "/debug/sight" -> json(view.sight());
            case "/debug/lag" -> json(view.lag());
            default -> {
                if (path.startsWith(NODE)) {
                    yield node(decoded(path.substring(NODE.length())), query);
                }
                if (path.equals(REPORT) && observation.isPresent()) {
                    yield report(observation.get(), parameters(query));
                }
                Supplier<JsonObject> page = more.get(path);
                yield page == null
                        ? now(Page.text(404, "404 page not found; there are " + String.join(", ", paths())))
                        : json(CompletableFuture.supplyAsync(page, loop));
            }
        };
    }

    private Page health() {
        return view.unhealthy().map(why -> Page.text(503, why)).orElseGet(() -> Page.text(200, "ok"));
    }

    /** A standby is ready. Otherwise a rollout would wait for the leader that it is about to replace. */
    private Page readiness(Optional<String> unready) {
        return view.standby()
                .map(why -> Page.text(200, "ok: " + why))
                .or(() -> unready.map(why -> Page.text(503, why)))
                .orElseGet(() -> Page.text(200, "ok"));
    }

    private List<String> paths() {
        List<String> paths = new ArrayList<>(PATHS);
        paths.addAll(more.keySet());
        observation.ifPresent(observed -> paths.add(REPORT));
        return paths;
    }

    /** The state of a node, the decisions about it, and those about the controller itself. */
    private CompletableFuture<Page> node(String name, String query) {
        return stored(wanted(name, parameters(query)))
                .thenCombineAsync(within(view.node(name)), (found, facts) -> page(name, found, facts), timer);
    }

    /** The report about the last time. Only one is made at a time, because it reads and holds much of the history. */
    private CompletableFuture<Page> report(Observation observed, Map<String, String> parameters) {
        Instant to = timer.clock().wallTime();
        Period period = new Period(to.minus(since(parameters)), to);
        if (!reporting.compareAndSet(false, true)) {
            return now(Page.text(503, "another report is being made; try again in some seconds"));
        }
        return stored(ObserveReport.query(period.from()))
                .thenApplyAsync(found -> ObserveReport.of(found, period), timer)
                .thenCombineAsync(
                        within(CompletableFuture.supplyAsync(observed::waiting, loop)),
                        (report, waiting) -> Page.json(
                                report.toBuilder().put("waiting", waiting).build()),
                        timer)
                .whenComplete((page, error) -> reporting.set(false));
    }

    private static Duration since(Map<String, String> parameters) {
        String text = parameters.getOrDefault("since", PERIOD);
        Duration since;
        try {
            since = GoDuration.parse(text);
        } catch (IllegalArgumentException e) {
            since = Duration.ZERO;
        }
        if (!since.isPositive() || since.compareTo(LONGEST_PERIOD) > 0) {
            throw new IllegalArgumentException("since is \"" + text + "\"; expected a duration like 24h, at most "
                    + GoDuration.format(LONGEST_PERIOD));
        }
        return since;
    }

    private <R> CompletableFuture<R> stored(Search<R> query) {
        CompletableFuture<R> found =
                CompletableFuture.supplyAsync(() -> query, loop).thenCompose(history::find);
        return Deadlines.within(timer, HISTORY_LIMIT, "the controller's history", found);
    }

    private static JsonArray array(List<Decision> decisions) {
        return new JsonArray(decisions.stream().<JsonValue>map(Decision::json).toList());
    }

    private static Page page(String name, DecisionQuery.Found found, Optional<JsonObject> facts) {
        if (found.node().isEmpty() && facts.isEmpty() && found.completeSince().isEmpty()) {
            return Page.text(404, "node \"" + name + "\" is unknown, and no decision about it is stored");
        }
        JsonObject.Builder json = JsonObject.builder().put("name", name);
        facts.ifPresent(known -> json.put("node", known));
        found.completeSince().ifPresent(since -> json.put("completeSince", KubeTime.formatMicro(since)));
        return Page.json(json.put("decisions", array(found.node()))
                .put("controller", array(found.controller()))
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

    /** The page of {@code answer}; it is written on the timer's loop, because the controller's has more important work. */
    private CompletableFuture<Page> json(CompletableFuture<JsonObject> answer) {
        return within(answer).thenApplyAsync(Page::json, timer);
    }

    private <T> CompletableFuture<T> within(CompletableFuture<T> answer) {
        return Deadlines.within(timer, ANSWER_LIMIT, "the controller", answer);
    }

    private static CompletableFuture<Page> now(Page page) {
        return CompletableFuture.completedFuture(page);
    }

    private static Page failure(Throwable error) {
        Throwable cause = Failures.cause(error);
        boolean isBusy = cause instanceof DeadlineExceededException || cause instanceof RejectedExecutionException;
        return Page.text(isBusy ? 503 : 500, Failures.text(error));
    }
}
