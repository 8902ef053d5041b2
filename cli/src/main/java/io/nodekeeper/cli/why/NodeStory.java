package io.nodekeeper.cli.why;

import io.nodekeeper.api.KubeTime;
import io.nodekeeper.api.json.JsonArray;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.api.json.JsonValue;
import io.nodekeeper.client.KubeClient;
import io.nodekeeper.controller.history.Decision;
import io.nodekeeper.time.Clock;
import io.nodekeeper.time.Deadlines;
import io.nodekeeper.time.Loop;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;

/** A node's story as {@code nodekeeper why} prints it, for readers within the controller's process. Thread-safe. */
public final class NodeStory {
    /** How long the API may take for the cordons, problems and events of one node. */
    private static final Duration API_LIMIT = Duration.ofSeconds(3);
    /** The most stories that read the API at the same time, each with three requests; others do without the API. */
    private static final int MOST_READING = 4;

    private final Optional<KubeClient> client;
    private final Loop timer;
    private final Clock clock;
    private final AtomicInteger reading = new AtomicInteger();

    /**
     * Stories of one controller.
     *
     * @param client reads cordons, problems and events; empty to leave them out
     * @param timer a loop for deadlines, other than the client's
     */
    public NodeStory(Optional<KubeClient> client, Loop timer) {
        this.client = client;
        this.timer = timer;
        this.clock = timer.clock();
    }

    /**
     * The story in the controller's page about the node, with what only the API has.
     *
     * @param limit the most decisions that the page has
     * @param isNewest whether these are the newest, and not those around another time
     * @return as {@code nodekeeper why -o json}, and in {@code conditions} the last change of each condition, as
     *     decisions
     */
    public CompletableFuture<JsonObject> of(String name, JsonObject page, int limit, boolean isNewest) {
        Story story = new Story(name, "this controller", List.of(), page.object("node"), decisions(page, "decisions"))
                .limited(limit, isNewest)
                .readSince(KubeTime.parse(page.text("completeSince")))
                .withController(decisions(page, "controller"));
        return api(name)
                .thenApply(api -> json(api.map(story::withApi).orElse(story), api))
                .exceptionally(error -> json(story.withoutApi(error), Optional.empty()));
    }

    private JsonObject json(Story story, Optional<Story> api) {
        List<JsonValue> conditions = api.stream()
                .flatMap(read -> read.decisions().stream())
                .filter(decision -> decision.kind().contains("="))
                .<JsonValue>map(Decision::json)
                .toList();
        return story.json(Headline.of(story, clock.wallTime())).with("conditions", new JsonArray(conditions));
    }

    private CompletableFuture<Optional<Story>> api(String name) {
        if (client.isEmpty()) {
            return CompletableFuture.completedFuture(Optional.empty());
        }
        if (reading.incrementAndGet() > MOST_READING) {
            reading.decrementAndGet();
            return CompletableFuture.failedFuture(new IllegalStateException("too many stories are read at once"));
        }
        CompletableFuture<Story> read = ApiStory.read(client.get().withTimeout(API_LIMIT), name, List.of());
        read.whenComplete((story, error) -> reading.decrementAndGet());
        // The deadline ends a copy: requests that still wait for a connection count until they end.
        return Deadlines.within(timer, API_LIMIT, "the API server", read.copy()).thenApply(Optional::of);
    }

    private static List<Decision> decisions(JsonObject page, String name) {
        return page.array(name)
                .objects()
                .flatMap(json -> Decision.of(json).stream())
                .toList();
    }
}
