package io.nodekeeper.apiserver.watches;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.apiserver.request.ApiResponse;
import io.nodekeeper.apiserver.testing.SlowValues;
import io.nodekeeper.apiserver.testing.TestServer;
import io.nodekeeper.apiserver.testing.TestServer.Lines;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Watches of collections. */
class WatchTest {
    private static final String NODES = "/api/v1/nodes?watch=true";

    private final TestServer server = new TestServer();

    private void label(String node, String label, String value) {
        assertThat(server.patch(
                                TestServer.MERGE,
                                "/api/v1/nodes/" + node,
                                "{\"metadata\":{\"labels\":{\"" + label + "\":" + value + "}}}")
                        .status())
                .isEqualTo(200);
    }

    @Test
    @Tag("W61")
    void watchAfterAListDeliversEachChangeOnce() {
        server.node("n1");
        Lines watch = server.watch(
                NODES + "&resourceVersion=" + server.get("/api/v1/nodes").version());
        server.node("n2");
        label("n1", "a", "\"b\"");
        server.delete("/api/v1/nodes/n2", "");
        assertThat(watch.brief()).containsExactly("ADDED n2@6", "MODIFIED n1@7", "DELETED n2@8");
        assertThat(watch.events
                        .getLast()
                        .object("object")
                        .object("spec")
                        .array("taints")
                        .isEmpty())
                .isFalse();
    }

    @Test
    @Tag("W62")
    void watchWithoutAVersionStartsWithAllObjects() {
        server.node("n1");
        server.node("n2");
        assertThat(server.watch(NODES).brief()).containsExactly("ADDED n1@5", "ADDED n2@6");
        assertThat(server.watch(NODES + "&resourceVersion=0").brief()).containsExactly("ADDED n1@5", "ADDED n2@6");
        assertThat(server.watch("/api/v1/nodes?watch=1&resourceVersion=5").brief())
                .containsExactly("ADDED n2@6");
    }

    @Test
    @Tag("W71")
    void pastChangesDoNotCountAgainstTheReader() {
        server.node("n1");
        server.node("n2");
        Lines watch = server.watch(NODES + "&resourceVersion=4");
        server.node("n3");

        assertThat(watch.brief()).containsExactly("ADDED n1@5", "ADDED n2@6", "ADDED n3@7");
        assertThat(watch.first).as("lines that are no news").isEqualTo(2);
    }

    @Test
    void watchParameterAcceptsAllTrueValues() {
        server.node("n1");
        for (String yes : List.of("=true", "=True", "=1", "=yes", "=", "")) {
            assertThat(server.watch("/api/v1/nodes?watch" + yes).brief()).containsExactly("ADDED n1@5");
        }
        for (String no : List.of("=false", "=False", "=0")) {
            assertThat(server.get("/api/v1/nodes?watch" + no).json().text("kind"))
                    .isEqualTo("NodeList");
        }
    }

    @Test
    @Tag("W63")
    void expiredVersionIsReportedOnTheStream() {
        server.node("n1");
        server.time.advance(Duration.ofMinutes(6));
        label("n1", "a", "\"b\"");
        Lines watch = server.watch(NODES + "&resourceVersion=1");
        assertThat(watch.events.stream().map(JsonObject::toString))
                .containsExactly(
                        "{\"type\":\"ERROR\",\"object\":{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},\"status\":\"Failure\",\"message\":\"too old resource version: 1 (5)\",\"reason\":\"Expired\",\"code\":410}}");
        assertThat(watch.ended).isTrue();
    }

    @Test
    @Tag("W55")
    void expiredPageHasATokenForTheRest() {
        server.node("a");
        server.node("b");
        String token =
                server.get("/api/v1/nodes?limit=1").json().object("metadata").text("continue");
        server.time.advance(Duration.ofMinutes(6));
        label("a", "x", "\"y\"");
        TestServer.Answer expired = server.get("/api/v1/nodes?limit=1&continue=" + token);
        // The history still starts at the revision of the first page.
        assertThat(expired.status()).isEqualTo(200);
        server.time.advance(Duration.ofMinutes(6));
        label("b", "x", "\"y\"");
        expired = server.get("/api/v1/nodes?limit=1&continue=" + token);
        assertThat(expired.status()).isEqualTo(410);
        assertThat(expired.reason()).isEqualTo("Expired");
        assertThat(expired.message())
                .startsWith("The provided continue parameter is too old to display a consistent list result.");
        String rest = expired.json().object("metadata").text("continue");
        TestServer.Answer going = server.get("/api/v1/nodes?limit=1&continue=" + rest);
        assertThat(going.names()).containsExactly("b");
        assertThat(going.version()).isEqualTo("8");
        for (String exact : List.of("resourceVersionMatch=Exact", "limit=1")) {
            assertThat(server.get("/api/v1/nodes?resourceVersion=5&" + exact).message())
                    .isEqualTo("The resourceVersion for the provided list is too old.");
        }
    }

    @Test
    @Tag("W64")
    void selectorChangesAreAddedAndDeletedEvents() {
        server.node("n1");
        Lines watch = server.watch(NODES + "&labelSelector=zone%3Da&resourceVersion=5");
        label("n1", "other", "\"x\"");
        label("n1", "zone", "\"a\"");
        label("n1", "other", "\"y\"");
        label("n1", "zone", "\"b\"");
        label("n1", "zone", "\"a\"");
        server.delete("/api/v1/nodes/n1", "");
        assertThat(watch.brief())
                .containsExactly("ADDED n1@7", "MODIFIED n1@8", "DELETED n1@9", "ADDED n1@10", "DELETED n1@11");
        assertThat(watch.events.get(2).object("object").object("metadata").object("labels"))
                .hasToString("{\"other\":\"y\",\"zone\":\"a\"}");
    }

    @Test
    @Tag("W65")
    @Tag("W67")
    void watchOfOneNodeGetsOnlyItsEventsAndBookmarks() {
        server.node("n1");
        server.node("n10");
        Lines watch = server.watch(NODES + "&fieldSelector=metadata.name%3Dn1&allowWatchBookmarks=true");
        label("n10", "a", "\"b\"");
        server.time.advance(Duration.ofSeconds(61));
        label("n1", "a", "\"b\"");
        server.time.advance(Duration.ofSeconds(60));
        assertThat(watch.brief()).containsExactly("ADDED n1@5", "BOOKMARK @7", "MODIFIED n1@8", "BOOKMARK @8");
        assertThat(watch.events.get(1).object("object"))
                .hasToString("{\"kind\":\"Node\",\"apiVersion\":\"v1\",\"metadata\":{\"resourceVersion\":\"7\"}}");
    }

    @Test
    void nameCanBeCombinedWithOtherSelectors() {
        server.node("n1");
        Lines watch = server.watch(NODES + "&fieldSelector=metadata.name%3Dn1,spec.unschedulable%3Dtrue");
        server.patch(TestServer.MERGE, "/api/v1/nodes/n1", "{\"spec\":{\"unschedulable\":true}}");
        assertThat(watch.brief()).containsExactly("ADDED n1@6");
    }

    @Test
    @Tag("W66")
    void watchEndsAtItsTimeout() {
        Lines watch = server.watch(NODES + "&timeoutSeconds=2");
        server.time.advance(Duration.ofMillis(1_999));
        assertThat(watch.ended).isFalse();
        server.time.advance(Duration.ofMillis(1));
        assertThat(watch.ended).isTrue();
        server.node("n1");
        assertThat(watch.events).isEmpty();
    }

    @Test
    void watchEndsWithinAnHourOrAtMostADay() {
        Lines watch = server.watch(NODES);
        Lines endless = server.watch(NODES + "&timeoutSeconds=9223372036854775807");
        server.time.advance(Duration.ofSeconds(1_799));
        assertThat(watch.ended).isFalse();
        server.time.advance(Duration.ofSeconds(1_801));
        assertThat(watch.ended).isTrue();
        assertThat(endless.ended).isFalse();
        server.time.advance(Duration.ofDays(1));
        assertThat(endless.ended).isTrue();
    }

    @Test
    @Tag("W68")
    void initialEventsEndWithABookmark() {
        server.node("n1");
        Lines watch = server.watch(
                NODES + "&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true");
        assertThat(watch.brief()).containsExactly("ADDED n1@5", "BOOKMARK @5");
        assertThat(watch.events.getLast().object("object").object("metadata").object("annotations"))
                .hasToString("{\"k8s.io/initial-events-end\":\"true\"}");
        TestServer.Answer refused = server.get(NODES + "&sendInitialEvents=true");
        assertThat(refused.status()).isEqualTo(422);
        assertThat(server.get(NODES + "&resourceVersionMatch=NotOlderThan&resourceVersion=1")
                        .status())
                .isEqualTo(422);
    }

    @ParameterizedTest
    @Tag("W68")
    @ValueSource(strings = {"", "&resourceVersion=0"})
    void watchWithoutInitialEventsStartsNow(String version) {
        server.node("n1");

        Lines watch = server.watch(NODES + "&sendInitialEvents=false&resourceVersionMatch=NotOlderThan"
                + "&allowWatchBookmarks=true" + version);
        server.node("n2");

        assertThat(watch.brief()).containsExactly("ADDED n2@6");
    }

    @Test
    @Tag("W68")
    void watchWithoutInitialEventsStartsAfterItsVersion() {
        server.node("n1");
        server.node("n2");

        Lines watch =
                server.watch(NODES + "&sendInitialEvents=false&resourceVersionMatch=NotOlderThan&resourceVersion=5");

        assertThat(watch.brief()).containsExactly("ADDED n2@6");
    }

    @ParameterizedTest
    @Tag("W68")
    @ValueSource(
            strings = {
                "&sendInitialEvents=false",
                "&sendInitialEvents=false&resourceVersion=5",
                "&sendInitialEvents=false&resourceVersion=5&resourceVersionMatch=Exact"
            })
    void watchThatSaysWhetherItWantsInitialEventsSaysWhatItsVersionMeans(String query) {
        TestServer.Answer refused = server.get(NODES + query);

        assertThat(refused.status()).isEqualTo(422);
        assertThat(refused.message())
                .isEqualTo("ListOptions.meta.k8s.io \"\" is invalid: resourceVersionMatch: Forbidden: "
                        + "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan");
    }

    @Test
    @Tag("W70")
    void closedWatchIsRemoved() {
        Lines watch = server.watch(NODES + "&allowWatchBookmarks=true");
        watch.leave();
        server.settle();
        server.node("n1");
        server.time.advance(Duration.ofMinutes(5));
        assertThat(watch.events).isEmpty();
    }

    @Test
    @Tag("W72")
    void watchOfATableHasColumnsOnlyOnce() {
        server.node("n1");
        Lines watch =
                server.watch(TestServer.ADMIN, NODES, Map.of("accept", "application/json;as=Table;v=v1;g=meta.k8s.io"));
        label("n1", "a", "\"b\"");
        server.delete("/api/v1/nodes/n1", "");
        assertThat(watch.events.stream().map(event -> event.text("type")))
                .containsExactly("ADDED", "MODIFIED", "DELETED");
        List<JsonObject> tables =
                watch.events.stream().map(event -> event.object("object")).toList();
        assertThat(tables.stream()
                        .map(table -> table.array("columnDefinitions").items().size()))
                .containsExactly(10, 0, 0);
        assertThat(tables.stream()
                        .map(table -> table.array("rows")
                                .objects()
                                .findFirst()
                                .orElseThrow()
                                .array("cells")
                                .toString()))
                .containsOnly(
                        "[\"n1\",\"Unknown\",\"<none>\",\"0s\",\"\",\"<none>\",\"<none>\",\"<unknown>\",\"<unknown>\",\"<unknown>\"]");
        assertThat(tables.getFirst().object("metadata").text("resourceVersion")).isEqualTo("5");
    }

    @Test
    void watchOfANamespaceGetsOnlyItsEvents() {
        Lines watch = server.watch("/api/v1/namespaces/default/pods?watch=true");
        server.post("/api/v1/namespaces/kube-system/pods", TestServer.pod("p1", ""));
        server.post("/api/v1/namespaces/default/pods", TestServer.pod("p2", ""));
        assertThat(watch.brief()).containsExactly("ADDED p2@6");
    }

    private static final String INITIAL = NODES
            + "&sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan&resourceVersion=";

    @Test
    void watchWithInitialEventsWaitsForItsVersion() {
        server.node("n1");
        // when it names a future version
        var waiting = server.send(TestServer.ADMIN, "GET", INITIAL + 6, Map.of(), "");
        server.settle();
        assertThat(waiting).isNotDone();
        server.node("n2");
        server.time.advance(Duration.ofMillis(100));
        // then it starts when the server reaches that version
        Lines lines = server.read((ApiResponse.Streamed) waiting.join());
        assertThat(lines.brief()).containsExactly("ADDED n1@5", "ADDED n2@6", "BOOKMARK @6");
    }

    @Test
    void watchWithInitialEventsOfAFutureVersionTimesOut() {
        var waiting = server.send(TestServer.ADMIN, "GET", INITIAL + 1000, Map.of(), "");
        server.time.advance(Duration.ofSeconds(4));
        TestServer.Answer answer = TestServer.answer(waiting);
        assertThat(answer.status()).isEqualTo(504);
        assertThat(answer.message()).startsWith("Timeout: Too large resource version: 1000");
    }

    @Test
    void endOfInitialEventsNeedsBookmarks() {
        server.node("n1");
        Lines watch = server.watch(NODES + "&sendInitialEvents=true&resourceVersionMatch=NotOlderThan");
        assertThat(watch.brief()).containsExactly("ADDED n1@5");
    }

    @Test
    void lastBookmarkIsTwoSecondsBeforeTheEnd() {
        server.node("n1");
        Lines watch = server.watch(NODES + "&allowWatchBookmarks=true&timeoutSeconds=90&resourceVersion=5");
        server.post("/api/v1/namespaces/default/configmaps", "{\"metadata\":{\"name\":\"c\"}}");
        server.time.advance(Duration.ofSeconds(61));
        assertThat(watch.brief()).containsExactly("BOOKMARK @6");
        server.post("/api/v1/namespaces/default/configmaps", "{\"metadata\":{\"name\":\"d\"}}");
        server.time.advance(Duration.ofSeconds(28));
        assertThat(watch.brief()).containsExactly("BOOKMARK @6", "BOOKMARK @7");
        assertThat(watch.ended).isFalse();
        server.time.advance(Duration.ofSeconds(2));
        assertThat(watch.ended).isTrue();
        assertThat(watch.events).hasSize(2);
    }

    /** Otherwise it would never learn of the change, because its next bookmark is later. */
    @Test
    void watchEndsWithAChangeThatCannotBeReadSoThatItsClientListsAgain() {
        // given watches of two kinds, and a disk that fails when an Event is deleted
        SlowValues disk = new SlowValues("/registry/events/");
        TestServer failing = new TestServer(disk);
        String events = "/api/v1/namespaces/default/events";
        failing.post(
                events,
                "{\"metadata\":{\"name\":\"e1\"},\"involvedObject\":{\"kind\":\"Node\",\"name\":\"n1\",\"namespace\":\"default\"}}");
        TestServer.Lines deleted = failing.watch(events + "?watch=true");
        TestServer.Lines others = failing.watch("/api/v1/nodes?watch=true");
        String key = "/registry/events/default/e1";
        long before = failing.store.revision();
        disk.failing(true);
        failing.store.delete(key, failing.store.get(key).orElseThrow().modRevision());
        failing.settle();

        // then its watch ends as if the change were no longer known, also one that resumes before it, and the other one
        // goes on
        TestServer.Lines resumed = failing.watch(events + "?watch=true&resourceVersion=" + before);
        assertThat(resumed.events.getLast().object("object").number("code")).contains(410L);
        assertThat(resumed.ended).isTrue();
        assertThat(deleted.events.getLast().text("type")).isEqualTo("ERROR");
        assertThat(deleted.events.getLast().object("object").number("code")).contains(410L);
        assertThat(deleted.ended).isTrue();
        failing.node("n1");
        assertThat(others.brief()).hasSize(1);
    }
}
