package io.nodekeeper.cli.ui;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.api.json.JsonArray;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.controller.history.Decision;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class TimelineTest {
    private static final Instant B = Instant.parse("2015-01-01T12:00:00Z");

    private static Decision node(int second, String kind, JsonObject details) {
        return new Decision(B.plusSeconds(second), "n1", "uid-1", kind, kind + " text", details);
    }

    private static Decision controller(int second, String kind) {
        return new Decision(B.plusSeconds(second), "", "", kind, kind + " text", JsonObject.EMPTY);
    }

    private static List<String> spans(JsonArray spans) {
        return spans.objects()
                .map(span -> span.text("state") + " " + span.text("from").substring(14, 19) + "-"
                        + span.text("to").substring(14, 19))
                .toList();
    }

    @Test
    void outageIsASpanAndItsGapBeginsWithTheLastHeartbeat() {
        JsonObject timeline = Timeline.of(
                List.of(
                        node(0, "Registered", JsonObject.EMPTY.with("ready", "True")),
                        node(120, "Unknown", JsonObject.EMPTY.with("arrivedAt", "2015-01-01T12:01:10.000000Z")),
                        node(180, "Returned", JsonObject.EMPTY.with("ready", "True"))),
                List.of(),
                Optional.empty(),
                B.plusSeconds(240));

        assertThat(spans(timeline.array("states")))
                .containsExactly("ready 00:00-02:00", "unknown 02:00-03:00", "ready 03:00-04:00");
        assertThat(spans(timeline.array("gaps"))).containsExactly("gap 01:10-03:00");
        assertThat(timeline.text("from")).isEqualTo("2015-01-01T11:59:00.000000Z");
        assertThat(timeline.text("to")).isEqualTo("2015-01-01T12:04:00.000000Z");
    }

    @Test
    void fallThatTheNodeReportedIsASpan() {
        JsonObject timeline = Timeline.of(
                List.of(
                        node(0, "Registered", JsonObject.EMPTY.with("ready", "True")),
                        node(60, "ReadyChanged", JsonObject.EMPTY.with("ready", "False")),
                        node(80, "ReadyChanged", JsonObject.EMPTY.with("ready", "True"))),
                List.of(),
                Optional.empty(),
                B.plusSeconds(120));

        assertThat(spans(timeline.array("states")))
                .containsExactly("ready 00:00-01:00", "notReady 01:00-01:20", "ready 01:20-02:00");
        assertThat(timeline.array("marks").objects().map(mark -> mark.text("lane")))
                .containsOnly("state");
    }

    @Test
    void outageThatLastsReachesTheEnd() {
        JsonObject timeline = Timeline.of(
                List.of(node(0, "Unknown", JsonObject.EMPTY)), List.of(), Optional.empty(), B.plusSeconds(60));

        assertThat(spans(timeline.array("states"))).containsExactly("unknown 00:00-01:00");
        assertThat(spans(timeline.array("gaps"))).containsExactly("gap 00:00-01:00");
    }

    @Test
    void blindPeriodsAreClosedAtTheEdges() {
        Instant from = B;
        Instant to = B.plusSeconds(600);

        assertThat(spans(Timeline.blind(List.of(controller(60, "ObserverSees")), from, to)))
                .as("it began before the list")
                .containsExactly("blind 00:00-01:00");
        // a process that begins sees, or says that it does not
        assertThat(spans(Timeline.blind(
                        List.of(controller(60, "ObserverBlind"), controller(120, "ObservationStarted")), from, to)))
                .containsExactly("blind 01:00-02:00");
        assertThat(spans(Timeline.blind(List.of(controller(60, "ObserverBlind")), from, to)))
                .as("it has not ended")
                .containsExactly("blind 01:00-10:00");
        assertThat(spans(Timeline.blind(
                        List.of(
                                controller(60, "ObserverBlind"),
                                controller(90, "ObserverBlind"),
                                controller(95, "AllZonesDown"),
                                controller(120, "ObserverSees"),
                                controller(300, "ObserverBlind"),
                                controller(330, "ObserverSees")),
                        from,
                        to)))
                .as("a second cause does not begin a second period")
                .containsExactly("blind 01:00-02:00", "blind 05:00-05:30");
        assertThat(Timeline.blind(List.of(controller(-90, "ObserverBlind"), controller(-60, "ObserverSees")), from, to)
                        .items())
                .as("it ended before")
                .isEmpty();
    }

    @Test
    void eachDecisionIsAMarkInItsLane() {
        JsonObject pod = JsonObject.EMPTY.with("pod", "default/web");
        JsonObject timeline = Timeline.of(
                List.of(
                        node(9, "Cordoned", JsonObject.EMPTY),
                        node(0, "Suspected", JsonObject.EMPTY),
                        node(1, "Unknown", JsonObject.EMPTY),
                        node(2, "Tainted", JsonObject.EMPTY),
                        node(3, "Evicted", pod),
                        node(4, "DuplicateNode", JsonObject.EMPTY),
                        node(5, "RuntimeDegraded=True", JsonObject.EMPTY),
                        node(6, "Event Rebooted", JsonObject.EMPTY)),
                List.of(),
                Optional.empty(),
                B.plusSeconds(60));

        assertThat(timeline.array("marks")
                        .objects()
                        .map(mark ->
                                mark.number("index").orElseThrow() + " " + mark.text("lane") + " " + mark.text("kind")))
                .containsExactly(
                        "0 heartbeats Suspected",
                        "1 state Unknown",
                        "2 taints Tainted",
                        "3 pods Evicted",
                        "4 problems DuplicateNode",
                        "5 problems RuntimeDegraded=True",
                        "6 problems Event Rebooted",
                        "7 cordon Cordoned");
    }

    @Test
    void timelineOfAnEarlierTimeEndsSoonAfterIt() {
        JsonObject timeline = Timeline.of(
                List.of(node(0, "Unknown", JsonObject.EMPTY)),
                List.of(),
                Optional.of(B.plusSeconds(30)),
                B.plusSeconds(86_400));

        assertThat(timeline.text("from")).isEqualTo("2015-01-01T11:59:00.000000Z");
        assertThat(timeline.text("to")).isEqualTo("2015-01-01T12:01:30.000000Z");
        assertThat(spans(timeline.array("states"))).containsExactly("unknown 00:00-01:30");
    }
}
