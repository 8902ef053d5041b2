package io.nodekeeper.controller.observe;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.client.Call;
import io.nodekeeper.client.FakeTransport;
import io.nodekeeper.client.shadow.ShadowTransport;
import io.nodekeeper.controller.history.Decision;
import io.nodekeeper.controller.history.History;
import io.nodekeeper.controller.metrics.ControllerMetrics;
import io.nodekeeper.controller.metrics.ObserveMetrics;
import io.nodekeeper.time.Loop;
import io.nodekeeper.time.VirtualTime;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** What an observation knows of nodes that were deleted or replaced while no watch was open, and what it calls a fact. */
class ObservationTest {
    private final VirtualTime time = new VirtualTime(Instant.EPOCH);
    private final Loop loop = time.loop("test");
    private final Observation observation =
            new Observation(loop, decision -> {}, Duration.ofSeconds(50), new ObserveMetrics(new ControllerMetrics()));
    private final FakeTransport server = new FakeTransport();
    private final ShadowTransport shadow = new ShadowTransport(server, loop.clock(), observation);

    private void list(String query, String next, String... nodes) {
        JsonObject page = Json.parseObject(
                "{\"metadata\":{\"continue\":\"" + next + "\"},\"items\":[" + String.join(",", List.of(nodes)) + "]}");
        server.answer(call -> Optional.of(FakeTransport.reply(200, page)));
        shadow.send(Call.get("/api/v1/nodes" + query)).join();
        time.advance(Duration.ofMillis(1));
    }

    private static String node(String name, String uid, String ready) {
        return "{\"metadata\":{\"name\":\"" + name + "\",\"uid\":\"" + uid
                + "\"},\"status\":{\"conditions\":[{\"type\":\"Ready\",\"status\":\"" + ready
                + "\",\"lastHeartbeatTime\":\"2015-01-01T00:00:00Z\"}]}}";
    }

    @Test
    void nodesThatTheLastPageOfAListDidNotHaveAreForgotten() {
        list("", "", node("a", "1", "True"), node("b", "2", "True"), node("c", "3", "True"));

        list("?limit=1", "next", node("a", "1", "True"));
        assertThat(observation.sizes()).containsEntry("observed nodes", 3).containsEntry("signs", 3);
        list("?limit=1&continue=next", "", node("b", "2", "True"));

        assertThat(observation.sizes()).containsEntry("observed nodes", 2).containsEntry("signs", 2);
    }

    private void leases(String renewTime) {
        JsonObject page = Json.parseObject(
                "{\"metadata\":{},\"items\":[{\"metadata\":{\"name\":\"a\",\"namespace\":\"kube-node-lease\"},"
                        + "\"spec\":{\"renewTime\":\"" + renewTime + "\"}}]}");
        server.answer(call -> Optional.of(FakeTransport.reply(200, page)));
        shadow.send(Call.get("/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases"))
                .join();
        time.advance(Duration.ofMillis(1));
    }

    /** After an outage of this controller's way to its server a list shows a renewal that is 52 s old. */
    @Test
    void aRenewalThatArrivesLateMakesACorrectVerdictNotFalse() {
        list("", "", node("a", "1", "True"));
        leases("2015-01-01T00:00:00.000000Z");
        time("10");

        time.advance(Duration.ofSeconds(60));
        leases("2015-01-01T00:00:18.000000Z");
        list("", "", node("a", "1", "Unknown"));

        assertThat(observation.waiting()).isEqualTo(1);
    }

    /** The clock of the node was set back by 6 s, so one renewal seems to come late, but not those after it. */
    @Test
    void aClockThatIsSetBackMakesOneRenewalLateOnly() {
        list("", "", node("a", "1", "True"));
        leases("2015-01-01T00:00:00.000000Z");
        for (String time : List.of("10", "14", "24")) {
            time(time);
        }

        list("", "", node("a", "1", "Unknown"));

        assertThat(observation.waiting()).isZero();
    }

    private void time(String second) {
        time.advance(Duration.ofSeconds(10));
        leases("2015-01-01T00:00:" + second + ".000000Z");
    }

    @Test
    void aVerdictAMomentAfterARenewalIsFalseAtOnce() {
        list("", "", node("a", "1", "True"));
        leases("2015-01-01T00:00:00.000000Z");
        time("10");

        list("", "", node("a", "1", "Unknown"));

        assertThat(observation.waiting()).isZero();
    }

    @Test
    void listOfSomeNodesSaysNothingOfTheOthers() {
        list("", "", node("a", "1", "True"), node("b", "2", "True"));

        list("?labelSelector=x", "");
        list("?fieldSelector=metadata.name%3Da", "", node("a", "1", "True"));

        assertThat(observation.sizes()).containsEntry("observed nodes", 2);
    }

    @Test
    void deletionOfAPodWithoutANodeIsNoFactEither() {
        List<String> texts = new ArrayList<>();
        History history = new Observation(
                        loop,
                        decision -> texts.add(decision.text()),
                        Duration.ofSeconds(50),
                        new ObserveMetrics(new ControllerMetrics()))
                .wouldBe();

        history.add(new Decision(Instant.EPOCH, "a", "1", "Collected", "Pod x/on-a was deleted", JsonObject.EMPTY));
        history.add(new Decision(Instant.EPOCH, "", "2", "Collected", "Pod x/nowhere was deleted", JsonObject.EMPTY));
        history.add(new Decision(Instant.EPOCH, "", "", "ObserverBlind", "nothing seen for 10s", JsonObject.EMPTY));

        assertThat(texts)
                .containsExactly(
                        "Not done in observe mode: Pod x/on-a was deleted",
                        "Not done in observe mode: Pod x/nowhere was deleted",
                        "nothing seen for 10s");
    }

    @Test
    void stateOfARecreatedNodeIsNoChangeByAnotherController() {
        list("", "", node("a", "1", "True"));

        list("", "", node("a", "2", "Unknown"));
        assertThat(observation.waiting()).isZero();

        // but the next one is
        list("", "", node("a", "2", "True"));
        list("", "", node("a", "2", "Unknown"));
        assertThat(observation.waiting()).isEqualTo(1);
    }
}
