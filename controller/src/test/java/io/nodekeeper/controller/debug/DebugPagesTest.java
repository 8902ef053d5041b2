package io.nodekeeper.controller.debug;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.client.pages.Page;
import io.nodekeeper.controller.ControllerView;
import io.nodekeeper.controller.history.Decision;
import io.nodekeeper.controller.history.DecisionQuery;
import io.nodekeeper.controller.history.MemoryHistory;
import io.nodekeeper.controller.history.Search;
import io.nodekeeper.controller.history.SearchableHistory;
import io.nodekeeper.controller.metrics.ControllerMetrics;
import io.nodekeeper.controller.metrics.Hop;
import io.nodekeeper.controller.metrics.ObserveMetrics;
import io.nodekeeper.controller.observe.Observation;
import io.nodekeeper.time.VirtualTime;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Function;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class DebugPagesTest {
    private static final Instant B = Instant.parse("2015-01-01T12:00:00Z");

    private final VirtualTime time = new VirtualTime(B);
    private final VirtualTime.VirtualLoop loop = time.loop("controller");
    private final VirtualTime.VirtualLoop timer = time.loop("timer");
    private final MemoryHistory history = new MemoryHistory();
    private final ControllerMetrics metrics = new ControllerMetrics();
    private int computed;
    private Optional<String> unready = Optional.empty();
    private Optional<String> standby = Optional.empty();
    private Optional<String> unhealthy = Optional.empty();
    private final DebugPages pages = new DebugPages(new View(), history, metrics, loop, timer)
            .with("/debug/observe", () -> JsonObject.EMPTY.with("mode", "observe"));

    @Test
    @Tag("W20")
    void nodeIsShownWithItsDecisions() {
        history.add(new Decision(B, "n1", "uid-1", "Unknown", "silent for 50s", JsonObject.EMPTY));
        history.add(new Decision(B.plusSeconds(9), "n1", "uid-1", "Returned", "heard of again", JsonObject.EMPTY));

        Page page = get("/debug/nodes/n1", "");

        assertThat(page.status()).isEqualTo(200);
        JsonObject json = Json.parseObject(page.body());
        assertThat(json.object("node").text("ready")).isEqualTo("Unknown");
        assertThat(json.array("decisions").objects().map(decision -> decision.text("kind")))
                .containsExactly("Unknown", "Returned");

        assertThat(Json.parseObject(get("/debug/nodes/n1", "at=2015-01-01T12%3A00%3A00Z&limit=1")
                                .body())
                        .array("decisions")
                        .objects()
                        .map(decision -> decision.text("kind")))
                .containsExactly("Unknown");
    }

    @Test
    void observeReportCoversTheRequestedTimeUntilNow() {
        assertThat(get("/debug/observe-report", "").status()).isEqualTo(404);
        pages.observing(new Observation(loop, history, Duration.ofSeconds(50), new ObserveMetrics(metrics)));
        history.add(
                new Decision(B.minusSeconds(90), "", "", "ObserverBlind", "", JsonObject.EMPTY.with("hop", "watch")));
        history.add(
                new Decision(B.minusSeconds(30), "", "", "ObserverSees", "", JsonObject.EMPTY.with("hop", "watch")));

        JsonObject report =
                Json.parseObject(get("/debug/observe-report", "since=1m").body());

        // The first page took 5 s.
        assertThat(report.text("from")).isEqualTo("2015-01-01T11:59:05.000000Z");
        assertThat(report.text("to")).isEqualTo("2015-01-01T12:00:05.000000Z");
        assertThat(report.object("summary").number("blindMillis")).contains(25_000L);
        assertThat(report.number("waiting")).contains(0L);
        Page wrong = get("/debug/observe-report", "since=9000h");
        assertThat(wrong.status()).isEqualTo(400);
        assertThat(new String(wrong.body(), StandardCharsets.UTF_8).strip())
                .isEqualTo("since is \"9000h\"; expected a duration like 24h, at most 8784h0m0s");
    }

    @Test
    void nodeIsShownBesideTheDecisionsAboutTheControllerItself() {
        history.add(new Decision(B, "", "", "ObserverBlind", "nothing seen for 10s", JsonObject.EMPTY));
        history.add(new Decision(B.plusSeconds(1), "n2", "uid-2", "Unknown", "silent for 50s", JsonObject.EMPTY));
        history.add(new Decision(B.plusSeconds(2), "n1", "uid-1", "Unknown", "silent for 50s", JsonObject.EMPTY));

        JsonObject json = Json.parseObject(get("/debug/nodes/n1", "").body());

        assertThat(json.array("decisions").objects().map(decision -> decision.text("kind")))
                .containsExactly("Unknown");
        assertThat(json.array("controller").objects().map(decision -> decision.text("kind")))
                .containsExactly("ObserverBlind");
        assertThat(json.text("name")).isEqualTo("n1");
    }

    @Test
    void pageOfANodeSearchesTheHistoryOnceAndSaysSinceWhenItIsComplete() {
        Decision unknown = new Decision(B, "n1", "uid-1", "Unknown", "silent for 50s", JsonObject.EMPTY);
        List<Search<?>> searches = new ArrayList<>();
        DebugPages shown = pages(search -> {
            searches.add(search);
            return CompletableFuture.completedFuture(
                    new DecisionQuery.Found(List.of(unknown), List.of(), Optional.of(B.minusSeconds(60))));
        });

        JsonObject json = Json.parseObject(get(shown, "/debug/nodes/n1", "").body());

        assertThat(searches).containsExactly(DecisionQuery.newest("n1", 20));
        assertThat(json.text("completeSince")).isEqualTo("2015-01-01T11:59:00.000000Z");
        assertThat(json.array("decisions").objects().map(decision -> decision.text("kind")))
                .containsExactly("Unknown");
    }

    @Test
    void nodeOfWhichNothingIsFoundInAHistoryThatWasNotReadToItsEndIsNotCalledUnknown() {
        DebugPages shown = pages(search ->
                CompletableFuture.completedFuture(new DecisionQuery.Found(List.of(), List.of(), Optional.of(B))));

        Page page = get(shown, "/debug/nodes/other", "");

        assertThat(page.status()).isEqualTo(200);
        assertThat(Json.parseObject(page.body()).text("completeSince")).isEqualTo("2015-01-01T12:00:00.000000Z");
    }

    @Test
    void historyThatIsReadForTooManyIsAnswered503() {
        DebugPages shown = pages(search -> CompletableFuture.failedFuture(
                new RejectedExecutionException("the history is being read for 8 other requests")));

        Page page = get(shown, "/debug/nodes/n1", "");

        assertThat(page.status()).isEqualTo(503);
        assertThat(new String(page.body(), StandardCharsets.UTF_8).strip())
                .isEqualTo("the history is being read for 8 other requests");
    }

    @Test
    void fleetIsShownOnOnePage() {
        assertThat(Json.parseObject(get("/debug/status", "").body()).text("grace"))
                .isEqualTo("50s");
        assertThat(Json.parseObject(get("/debug/fleet", "").body()).text("at")).isEqualTo("now");
    }

    @ParameterizedTest
    @ValueSource(strings = {"/debug/nodes", "/debug/status", "/debug/fleet"})
    void hundredRequestsInASecondAreOneComputation(String path) {
        // when 100 clients ask at once, and as many in the second after that
        List<CompletableFuture<Page>> answers = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            answers.add(pages.get(path, ""));
        }
        assertThat(answers).noneMatch(CompletableFuture::isDone);
        for (int i = 0; i < 100; i++) {
            time.advance(Duration.ofMillis(10));
            answers.add(pages.get(path, ""));
        }

        assertThat(answers).allMatch(answer -> answer.isDone() && answer.join().status() == 200);
        assertThat(computed).isEqualTo(1);
        // then the next request gets a new page
        time.advance(Duration.ofMillis(10));
        assertThat(get(path, "").status()).isEqualTo(200);
        assertThat(computed).isEqualTo(2);
    }

    @Test
    void failureOfASharedPageIsNotKept() {
        loop.freeze();
        assertThat(text("/debug/fleet", "")).isEqualTo("503: the controller did not answer within 2s\n");
        loop.thaw();

        assertThat(get("/debug/fleet", "").status()).isEqualTo(200);
    }

    @ParameterizedTest
    @ValueSource(strings = {"/debug/fleet", "/debug/sight", "/debug/lag", "/debug/observe", "/debug/nodes/n1"})
    void pagesAreNotWrittenOnTheLoopOfTheController(String path) {
        timer.freeze();

        CompletableFuture<Page> page = pages.get(path, "");
        time.advance(Duration.ofSeconds(1));

        // then the page waits for the other loop, though the controller has answered
        assertThat(page).isNotDone();
        timer.thaw();
        time.advance(Duration.ZERO);
        assertThat(page).isDone();
        assertThat(page.join().status()).isEqualTo(200);
    }

    @Test
    void unknownPagesAndInvalidParametersAreErrors() {
        assertThat(get("/debug/nodes/other", "").status()).isEqualTo(404);
        assertThat(text("/nothing", ""))
                .isEqualTo(
                        "404: 404 page not found; there are /metrics, /healthz, /readyz, /debug/nodes,"
                                + " /debug/nodes/NAME, /debug/sight, /debug/lag, /debug/status, /debug/fleet, /debug/observe\n");
        assertThat(text("/debug/nodes/n1", "at=yesterday"))
                .isEqualTo("400: at is \"yesterday\"; expected a time like 2026-11-21T09:07:17Z\n");
        assertThat(text("/debug/nodes/n1", "limit=0")).isEqualTo("400: limit is \"0\"; expected 1 to 1000\n");
        assertThat(get("/debug/nodes/%zz", "").status()).isEqualTo(400);
    }

    @Test
    void controllerThatIsNotReadySaysWhyAndIsHealthyAllTheSame() {
        unready = Optional.of("nodes are not listed yet");

        assertThat(text("/readyz", "")).isEqualTo("503: nodes are not listed yet\n");
        assertThat(text("/healthz", "")).isEqualTo("200: ok\n");

        unready = Optional.empty();
        assertThat(text("/readyz", "")).isEqualTo("200: ok\n");
    }

    @Test
    void standbyIsReadyAndALostLeaseIsNotHealthy() {
        unready = Optional.of("no controller works here");
        standby = Optional.of("standing by; other leads");
        assertThat(text("/readyz", "")).isEqualTo("200: ok: standing by; other leads\n");

        unhealthy = Optional.of("the lease is over");
        assertThat(text("/healthz", "")).isEqualTo("503: the lease is over\n");
        assertThat(text("/livez", "")).isEqualTo("503: the lease is over\n");
    }

    @Test
    void loopThatStandsStillIsNotHealthy() {
        loop.freeze();

        assertThat(text("/healthz", "")).isEqualTo("503: the controller did not answer within 2s\n");
        assertThat(text("/debug/observe", "")).isEqualTo("503: the controller did not answer within 2s\n");
        assertThat(get("/metrics", "").status()).isEqualTo(200);
    }

    @Test
    void pagesCanBeAdded() {
        assertThat(Json.parseObject(get("/debug/observe", "").body()).text("mode"))
                .isEqualTo("observe");
    }

    @Test
    void metricsHaveTheirNames() {
        metrics.lag(Hop.CANARY_ROUND_TRIP, 0.012);
        metrics.lag(Hop.NODE_TO_CONTROLLER, -3);
        metrics.detected(0.004);
        metrics.verdict("Unknown");
        metrics.blind("watch", true);
        metrics.blindFor("watch", 2.5);
        metrics.suspected();
        metrics.flapped();
        metrics.queue("noexec_taint_pod").added(3);
        metrics.leader("lock", true);
        metrics.slowPath("lock");

        assertThat(new String(get("/metrics", "").body(), StandardCharsets.UTF_8).lines())
                .contains(
                        "nodekeeper_heartbeat_lag_seconds_count{hop=\"canary_round_trip\"} 1",
                        "nodekeeper_heartbeat_lag_seconds_sum{hop=\"node_to_controller\"} 0.0",
                        "nodekeeper_heartbeat_lag_seconds_count{hop=\"decision_to_write\"} 0",
                        "nodekeeper_detection_delay_seconds_count 1",
                        "nodekeeper_verdicts_total{verdict=\"Unknown\"} 1.0",
                        "nodekeeper_observer_blind{hop=\"watch\"} 1.0",
                        "nodekeeper_observer_blind_seconds_total{hop=\"watch\"} 2.5",
                        "nodekeeper_canary_age_seconds 0.0",
                        "nodekeeper_suspect_nodes 0.0",
                        "nodekeeper_suspicions_total 1.0",
                        "nodekeeper_node_flaps_total 1.0",
                        "nodekeeper_damped_nodes 0.0",
                        "nodekeeper_node_clock_skew_seconds_max 0.0",
                        "leader_election_master_status{name=\"lock\"} 1.0",
                        "leader_election_slowpath_total{name=\"lock\"} 1.0",
                        "workqueue_depth{name=\"noexec_taint_pod\"} 3.0",
                        "workqueue_adds_total{name=\"noexec_taint_pod\"} 1.0");
    }

    private String text(String path, String query) {
        Page page = get(path, query);
        return page.status() + ": " + new String(page.body(), StandardCharsets.UTF_8);
    }

    /** Pages whose history answers with what {@code find} returns. */
    private DebugPages pages(Function<Search<?>, CompletableFuture<DecisionQuery.Found>> find) {
        SearchableHistory stub = new SearchableHistory() {
            @Override
            public void add(Decision decision) {}

            @Override
            @SuppressWarnings("unchecked")
            public <R> CompletableFuture<R> find(Search<R> search) {
                return (CompletableFuture<R>) find.apply(search);
            }

            @Override
            public void close() {}
        };
        return new DebugPages(new View(), stub, metrics, loop, timer);
    }

    private Page get(String path, String query) {
        return get(pages, path, query);
    }

    private Page get(DebugPages shown, String path, String query) {
        CompletableFuture<Page> page = shown.get(path, query);
        time.advance(Duration.ofSeconds(5));
        return page.join();
    }

    private final class View implements ControllerView {
        @Override
        public CompletableFuture<Optional<JsonObject>> node(String name) {
            return answer(
                    name.equals("n1") ? Optional.of(JsonObject.EMPTY.with("ready", "Unknown")) : Optional.empty());
        }

        @Override
        public CompletableFuture<JsonObject> nodes() {
            return answer(JsonObject.EMPTY);
        }

        @Override
        public CompletableFuture<JsonObject> status() {
            return answer(JsonObject.EMPTY.with("grace", "50s"));
        }

        @Override
        public CompletableFuture<JsonObject> fleet() {
            return answer(JsonObject.EMPTY.with("at", "now"));
        }

        @Override
        public CompletableFuture<JsonObject> sight() {
            return answer(JsonObject.EMPTY);
        }

        @Override
        public CompletableFuture<JsonObject> lag() {
            return answer(JsonObject.EMPTY);
        }

        @Override
        public CompletableFuture<Optional<String>> unready() {
            return answer(unready);
        }

        @Override
        public Optional<String> standby() {
            return standby;
        }

        @Override
        public Optional<String> unhealthy() {
            return unhealthy;
        }

        private <T> CompletableFuture<T> answer(T value) {
            return CompletableFuture.supplyAsync(
                    () -> {
                        computed++;
                        return value;
                    },
                    loop);
        }
    }
}
