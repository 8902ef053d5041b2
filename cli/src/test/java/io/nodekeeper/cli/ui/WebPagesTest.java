package io.nodekeeper.cli.ui;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.cli.why.NodeStory;
import io.nodekeeper.client.pages.Page;
import io.nodekeeper.time.VirtualTime;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class WebPagesTest {
    private static final Instant B = Instant.parse("2015-01-01T12:00:00Z");

    private final VirtualTime time = new VirtualTime(B);
    private final ShownFleet fleet = new ShownFleet(time.loop("controller"));
    private final WebPages pages = fleet.pages(time.loop("timer"));

    private Page get(String path, String query) {
        CompletableFuture<Page> page = pages.get(path, query);
        time.advance(Duration.ofSeconds(1));
        return page.join();
    }

    private String text(String path) {
        return new String(get(path, "").body(), StandardCharsets.UTF_8);
    }

    @Test
    void pageAndAllThatItLoadsAreServed() {
        Page page = get("/ui/", "");

        assertThat(page.status()).isEqualTo(200);
        assertThat(page.type()).isEqualTo("text/html; charset=utf-8");
        List<String> loaded = Pattern.compile("(?:src|href)=\"([^\":]*)\"")
                .matcher(text("/ui/"))
                .results()
                .map(found -> found.group(1))
                .toList();
        assertThat(loaded).containsExactly("page.css", "app.js");
        assertThat(loaded)
                .allSatisfy(name -> assertThat(get("/ui/" + name, "").status()).isEqualTo(200));
    }

    @Test
    void addressWithoutTheLastSlashLeadsToThePageBelowAnyPrefix() {
        assertThat(text("/ui")).contains("http-equiv=\"refresh\" content=\"0; url=ui/\"");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"", "app.js", "fleet.js", "grid.js", "live.js", "node.js", "strip.js", "states.js", "page.css"})
    void everyAddressIsRelative(String file) {
        assertThat(Pattern.compile("['\"(]/[a-z][^'\")]*")
                        .matcher(text("/ui/" + file))
                        .results()
                        .map(found -> found.group()))
                .isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"app.js", "fleet.js", "grid.js", "live.js", "node.js", "strip.js"})
    void scriptsImportOnlyServedScriptsAndNeverParseMarkup(String script) {
        String source = text("/ui/" + script);

        assertThat(source)
                .doesNotContain("innerHTML", "outerHTML", "insertAdjacentHTML", "dangerouslySetInnerHTML", "eval(");
        assertThat(Pattern.compile("from '\\./([^']+)'")
                        .matcher(source)
                        .results()
                        .map(found -> found.group(1)))
                .allSatisfy(name -> assertThat(get("/ui/" + name, "").type()).startsWith("text/javascript"));
    }

    @Test
    void libraryIsInTheJar() {
        assertThat(text("/ui/preact.js")).contains("export");
    }

    @ParameterizedTest
    @ValueSource(strings = {"/ui/../logback.xml", "/ui//etc/passwd", "/ui/package-info.class", "/ui/api/nothing"})
    void nothingElseIsServed(String path) {
        assertThat(get(path, "").status()).isEqualTo(404);
    }

    @Test
    void nodeIsShownWithTheSentenceOfWhyAndItsTimeline() {
        // given a node that fell silent while, before that, the controller was blind
        fleet.node("n1", "eu", "unknown", "NodeStatusUnknown: silent", "2015-01-01T11:59:00Z");
        fleet.decided(B.minusSeconds(120), "", "ObserverBlind", "nothing seen", JsonObject.EMPTY);
        fleet.decided(B.minusSeconds(90), "", "ObserverSees", "sees again", JsonObject.EMPTY);
        fleet.decided(B.minusSeconds(150), "n1", "Suspected", "late", JsonObject.EMPTY);
        fleet.decided(B.minusSeconds(60), "n1", "Unknown", "no heartbeat for 50s", JsonObject.EMPTY);

        JsonObject json = Json.parseObject(get("/ui/api/nodes/n1", "").body());

        assertThat(json.text("headline").lines())
                .containsExactly(
                        "Node n1 is Unknown since 11:59:00 UTC (1m0s ago), because no heartbeat for 50s.",
                        "Next: nodekeeper doctor, on the node, if it can be reached; else its console and power");
        assertThat(json.array("decisions").objects().map(decision -> decision.text("kind")))
                .as("what is about the controller is shaded, not listed")
                .containsExactly("Suspected", "Unknown");
        JsonObject timeline = json.object("timeline");
        assertThat(timeline.array("blind").objects().map(period -> period.text("from")))
                .containsExactly("2015-01-01T11:58:00.000000Z");
        assertThat(timeline.array("states").objects().map(span -> span.text("state")))
                .containsExactly("unknown");
    }

    @Test
    void nodeAtATimeIsTheOneOfTheOtherPages() {
        fleet.node("n1", "eu", "ready", "", "");
        fleet.decided(B.minusSeconds(9_000), "n1", "Unknown", "silent", JsonObject.EMPTY);

        JsonObject timeline = Json.parseObject(
                        get("/ui/api/nodes/n1", "at=2015-01-01T09%3A30%3A00Z").body())
                .object("timeline");

        assertThat(timeline.text("to")).isEqualTo("2015-01-01T09:31:00.000000Z");
        assertThat(get("/ui/api/nodes/n1", "at=yesterday").status()).isEqualTo(400);
        assertThat(get("/ui/api/nodes/other", "").status()).isEqualTo(404);
    }

    @Test
    void sightHasTheBlindPeriods() {
        assertThat(Json.parseObject(get("/ui/api/sight", "").body())
                        .array("blind")
                        .items())
                .isEmpty();

        fleet.decided(B, "", "ObserverBlind", "nothing seen", JsonObject.EMPTY);
        time.advance(Duration.ofSeconds(30));

        assertThat(Json.parseObject(get("/ui/api/sight", "").body())
                        .array("blind")
                        .objects()
                        .map(period -> period.text("text")))
                .containsExactly("nothing seen");
    }

    @Test
    void refusalOfABusyHistoryIsPassedOnSoThatTheBrowserKeepsTheBlindPeriods() {
        VirtualTime.VirtualLoop timer = time.loop("timer");
        WebPages refused = new WebPages(
                (path, query) -> CompletableFuture.completedFuture(Page.text(503, "try again in some seconds")),
                fleet,
                new NodeStory(Optional.empty(), timer),
                timer);

        assertThat(refused.get("/ui/api/sight", "").join().status()).isEqualTo(503);
        assertThat(refused.get("/ui/api/nodes/n1", "").join().status()).isEqualTo(503);
    }

    @Test
    void otherPagesStay() {
        assertThat(get("/healthz", "").status()).isEqualTo(200);
        assertThat(pages.feed("/healthz")).isEmpty();
        assertThat(pages.feed("/ui/api/events")).isPresent();
    }
}
