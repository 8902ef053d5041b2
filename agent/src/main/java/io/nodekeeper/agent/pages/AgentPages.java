package io.nodekeeper.agent.pages;

import io.nodekeeper.agent.health.HealthChecks;
import io.nodekeeper.api.Failures;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.client.pages.Page;
import io.nodekeeper.client.pages.Pages;
import io.nodekeeper.time.DeadlineExceededException;
import io.nodekeeper.time.Deadlines;
import io.nodekeeper.time.Futures;
import io.nodekeeper.time.Loop;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * The agent's pages, for any HTTP server: {@code /healthz} and {@code /readyz}, each alone, with {@code ?verbose} or
 * with the name of a check below it, {@code /metrics}, and added JSON pages. Checks and added pages run on
 * the agent's loop; a loop that does not answer is itself a failed check. Read-only. Thread-safe once it serves.
 */
public final class AgentPages implements Pages {
    /**
     * The time in which the agent's loop must answer; a healthy loop needs milliseconds, and probes usually time out
     * after a few seconds.
     */
    private static final Duration ANSWER_LIMIT = Duration.ofSeconds(2);

    private final Supplier<byte[]> metrics;
    private final Loop loop;
    private final Loop timer;
    private final HealthChecks health;
    private final HealthChecks readiness;
    private final Map<String, Function<String, CompletableFuture<Page>>> more = new LinkedHashMap<>();

    /**
     * Pages of one agent.
     *
     * @param healthChecks name → error, empty if the check passes; called on {@code loop}
     * @param readinessChecks the same, for {@code /readyz}
     * @param metrics the text for Prometheus; called on any thread
     * @param loop the agent's loop
     * @param timer another loop, which times requests out even while the agent's loop is blocked
     */
    public AgentPages(
            Map<String, Supplier<Optional<String>>> healthChecks,
            Map<String, Supplier<Optional<String>>> readinessChecks,
            Supplier<byte[]> metrics,
            Loop loop,
            Loop timer) {
        this.health = new HealthChecks("healthz", healthChecks);
        this.readiness = new HealthChecks("readyz", readinessChecks);
        this.metrics = metrics;
        this.loop = loop;
        this.timer = timer;
    }

    /** Adds a page at {@code path}, computed on the agent's loop; to be called before any page is served. */
    public AgentPages with(String path, Supplier<JsonObject> page) {
        return withAnswer(path, query -> now(Page.json(page.get())));
    }

    /**
     * The same for a page that depends on the query and may be ready later; it must be ready within 2 s.
     *
     * @param page query → page; called on the agent's loop
     */
    public AgentPages withAnswer(String path, Function<String, CompletableFuture<Page>> page) {
        more.put(path, page);
        return this;
    }

    @Override
    public CompletableFuture<Page> get(String path, String query) {
        return route(path, query).exceptionally(AgentPages::failure);
    }

    private CompletableFuture<Page> route(String path, String query) {
        if (path.equals("/") || path.equals("/debug")) {
            return now(Page.text(200, String.join("\n", paths())));
        }
        if (path.equals("/metrics")) {
            return now(new Page(200, "text/plain; version=0.0.4; charset=utf-8", metrics.get()));
        }
        for (HealthChecks checks : List.of(health, readiness)) {
            String root = "/" + checks.endpoint();
            if (path.equals(root)) {
                boolean verbose =
                        Arrays.stream(query.split("&")).anyMatch(flag -> flag.split("=", 2)[0].equals("verbose"));
                return onLoop(() -> checks.all(checks.run(), verbose));
            }
            if (path.startsWith(root + "/")) {
                return onLoop(() -> checks.one(path.substring(root.length() + 1)));
            }
        }
        Function<String, CompletableFuture<Page>> page = more.get(path);
        return page == null
                ? now(Page.text(404, "404 page not found; the pages are " + String.join(", ", paths())))
                : answer(() -> page.apply(query));
    }

    private List<String> paths() {
        List<String> paths = new ArrayList<>();
        for (HealthChecks checks : List.of(health, readiness)) {
            paths.add("/" + checks.endpoint());
            checks.checks().keySet().forEach(name -> paths.add("/" + checks.endpoint() + "/" + name));
        }
        paths.add("/metrics");
        paths.addAll(more.keySet());
        return paths;
    }

    private CompletableFuture<Page> onLoop(Supplier<Page> page) {
        return answer(() -> now(page.get()));
    }

    private CompletableFuture<Page> answer(Supplier<CompletableFuture<Page>> page) {
        return Deadlines.within(timer, ANSWER_LIMIT, "the agent", Futures.startOn(loop, page));
    }

    private static CompletableFuture<Page> now(Page page) {
        return CompletableFuture.completedFuture(page);
    }

    private static Page failure(Throwable error) {
        boolean stuck = Failures.cause(error) instanceof DeadlineExceededException;
        return Page.text(500, stuck ? "[-]loop failed: " + Failures.text(error) : Failures.text(error));
    }
}
