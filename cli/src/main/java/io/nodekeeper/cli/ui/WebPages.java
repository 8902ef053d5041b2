package io.nodekeeper.cli.ui;

import io.nodekeeper.api.Failures;
import io.nodekeeper.api.KubeTime;
import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonArray;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.api.json.JsonValue;
import io.nodekeeper.cli.why.NodeStory;
import io.nodekeeper.client.pages.Feed;
import io.nodekeeper.client.pages.Page;
import io.nodekeeper.client.pages.Pages;
import io.nodekeeper.controller.ControllerView;
import io.nodekeeper.controller.history.Decision;
import io.nodekeeper.time.Futures;
import io.nodekeeper.time.Loop;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Adds the web page under {@code /ui/} to the controller's pages: its files, {@code /ui/api/nodes/NAME}, {@code
 * /ui/api/sight} and the stream {@code /ui/api/events}. All data comes from the other pages. All addresses in the page are
 * relative, so that it works below the prefix of a proxy. Thread-safe.
 */
public final class WebPages implements Pages {
    /** The path of the page. */
    public static final String PATH = "/ui/";

    private static final String NODE = "/ui/api/nodes/";
    private static final String EVENTS = "/ui/api/events";
    private static final String SIGHT = "/ui/api/sight";
    /** The decisions of a timeline: days of one node, and a page of at most some hundred KB. */
    private static final int DECISIONS = 200;

    /**
     * Leads from {@code /ui} to {@code /ui/}, below which the page's addresses are. The address is relative, because a
     * proxy such as the API server's adds a prefix that this server does not know.
     */
    private static final Page MOVED = new Page(200, "text/html; charset=utf-8", """
            <!doctype html>
            <meta charset="utf-8">
            <meta http-equiv="refresh" content="0; url=ui/">
            <title>Nodekeeper</title>
            <link rel="icon" href="data:,">
            <a href="ui/">The page of Nodekeeper</a>
            """.getBytes(StandardCharsets.UTF_8));

    private static final Pattern AT = Pattern.compile("(?:^|&)at=([^&]*)");

    private final Pages pages;
    private final NodeStory stories;
    private final FleetFeed feed;
    private final Loop timer;

    /**
     * The web page of one controller.
     *
     * @param pages the controller's other pages
     * @param timer a loop other than the controller's
     */
    public WebPages(Pages pages, ControllerView view, NodeStory stories, Loop timer) {
        this.pages = pages;
        this.stories = stories;
        this.timer = timer;
        this.feed = new FleetFeed(() -> Futures.both(view.status(), view.fleet(), FleetSnapshot::of), timer);
    }

    @Override
    public Optional<Feed> feed(String path) {
        return path.equals(EVENTS) ? Optional.of(feed) : pages.feed(path);
    }

    @Override
    public CompletableFuture<Page> get(String path, String query) {
        if (path.startsWith(NODE)) {
            return node(path.substring(NODE.length()), query).exceptionally(WebPages::failure);
        }
        if (path.equals(SIGHT)) {
            return sight().exceptionally(WebPages::failure);
        }
        if (path.equals("/ui")) {
            return now(MOVED);
        }
        return path.startsWith(PATH)
                ? now(StaticFiles.find(path.substring(PATH.length()))
                        .orElseGet(() -> Page.text(404, "404 page not found; there is " + PATH)))
                : pages.get(path, query);
    }

    /** The controller's own blind periods, as far as its history has them. */
    private CompletableFuture<Page> sight() {
        return pages.get("/debug/nodes/-", "limit=" + DECISIONS).thenApply(page -> {
            if (page.status() != 200 && page.status() != 404) {
                return page;
            }
            Instant now = timer.clock().wallTime();
            // 404: nothing was decided about the controller yet.
            List<Decision> decisions = page.status() == 200 ? decisions(page, "decisions") : List.of();
            Instant from = decisions.isEmpty() ? now : decisions.getFirst().at();
            return Page.json(JsonObject.EMPTY.with("blind", Timeline.blind(decisions, from, now)));
        });
    }

    private CompletableFuture<Page> node(String name, String query) {
        var matcher = AT.matcher(query);
        String at = matcher.find() ? matcher.group(1) : "";
        String asked = "limit=" + DECISIONS + (at.isEmpty() ? "" : "&at=" + at);
        return pages.get("/debug/nodes/" + name, asked)
                .thenCompose(page -> page.status() == 200 ? story(decoded(name), page, decoded(at)) : now(page));
    }

    private CompletableFuture<Page> story(String name, Page page, String at) {
        JsonObject json = Json.parseObject(page.body());
        return stories.of(name, json, DECISIONS, at.isEmpty()).thenApply(story -> {
            List<Decision> node = Stream.of("decisions", "conditions")
                    .flatMap(list -> decisions(story, list))
                    .filter(decision -> !decision.node().isEmpty())
                    .sorted(Comparator.comparing(Decision::at))
                    .toList();
            JsonArray shown =
                    new JsonArray(node.stream().<JsonValue>map(Decision::json).toList());
            return Page.json(story.without("conditions")
                    .with("decisions", shown)
                    .with(
                            "timeline",
                            Timeline.of(
                                    node,
                                    decisions(json, "controller").toList(),
                                    KubeTime.parse(at),
                                    timer.clock().wallTime())));
        });
    }

    private static List<Decision> decisions(Page page, String list) {
        return decisions(Json.parseObject(page.body()), list).toList();
    }

    private static Stream<Decision> decisions(JsonObject json, String list) {
        return json.array(list).objects().flatMap(decision -> Decision.of(decision).stream());
    }

    private static String decoded(String text) {
        return URLDecoder.decode(text, StandardCharsets.UTF_8);
    }

    private static CompletableFuture<Page> now(Page page) {
        return CompletableFuture.completedFuture(page);
    }

    private static Page failure(Throwable error) {
        return Page.text(500, Failures.text(error));
    }
}
