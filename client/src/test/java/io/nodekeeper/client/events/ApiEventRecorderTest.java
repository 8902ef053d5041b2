package io.nodekeeper.client.events;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.api.ApiException;
import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.client.Call;
import io.nodekeeper.client.FakeTransport;
import io.nodekeeper.client.KubeClient;
import io.nodekeeper.client.LogLines;
import io.nodekeeper.client.Reply;
import io.nodekeeper.client.TransportException;
import io.nodekeeper.time.Randoms;
import io.nodekeeper.time.VirtualTime;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class ApiEventRecorderTest {
    private static final ObjectRef NODE = new ObjectRef("v1", "Node", "", "n1", "uid-1");
    private static final ObjectRef POD = new ObjectRef("v1", "Pod", "shop", "cart", "uid-2");

    private final VirtualTime time = new VirtualTime(Instant.parse("2026-01-01T00:00:00Z"));
    private final FakeTransport transport = new FakeTransport();
    private final KubeClient client = new KubeClient(transport, time.loop("events"), Duration.ofSeconds(10));
    private final ApiEventRecorder recorder =
            new ApiEventRecorder(client, "node-controller", "host-a", Randoms.seeded(1));

    @BeforeEach
    void acceptEverything() {
        transport.answer(call -> Optional.of(new Reply(201, call.body())));
    }

    @Test
    void writesAnEventOfANodeInNamespaceDefault() {
        recorder.record(
                NODE, EventRecorder.NORMAL, "RegisteredNode", "Node n1 event: Registered Node n1 in Controller");
        settle();

        assertThat(transport.log()).containsExactly("POST /api/v1/namespaces/default/events");
        JsonObject event = body(0);
        // 2026-01-01T00:00:00Z in nanoseconds is 0x1886761ad4e80000; the last three decimal digits are random.
        assertThat(event.object("metadata").text("name")).matches("n1\\.1886[0-9a-f]{12}");
        assertThat(event.without("metadata")).isEqualTo(Json.parse("""
                                {"apiVersion":"v1","kind":"Event",
                                 "involvedObject":{"kind":"Node","name":"n1","uid":"uid-1","apiVersion":"v1"},
                                 "reason":"RegisteredNode","message":"Node n1 event: Registered Node n1 in Controller",
                                 "source":{"component":"node-controller","host":"host-a"},
                                 "firstTimestamp":"2026-01-01T00:00:00Z","lastTimestamp":"2026-01-01T00:00:00Z",
                                 "count":1,"type":"Normal",
                                 "reportingComponent":"node-controller","reportingInstance":"host-a"}"""));
    }

    @Test
    void writesAnEventOfAPodInItsNamespace() {
        recorder.record(POD, EventRecorder.WARNING, "NodeNotReady", "Node is not ready");
        settle();

        assertThat(transport.log()).containsExactly("POST /api/v1/namespaces/shop/events");
        assertThat(body(0).object("involvedObject").text("namespace")).isEqualTo("shop");
    }

    @Test
    void countsTheSameEventInOneObject() {
        recorder.record(NODE, EventRecorder.NORMAL, "NodeNotReady", "Node n1 status is now: NodeNotReady");
        time.advance(Duration.ofSeconds(90));
        recorder.record(NODE, EventRecorder.NORMAL, "NodeNotReady", "Node n1 status is now: NodeNotReady");
        settle();

        String name = body(0).object("metadata").text("name");
        assertThat(transport.log().get(1)).isEqualTo("PATCH /api/v1/namespaces/default/events/" + name);
        assertThat(transport.calls().get(1).contentType()).isEqualTo("application/strategic-merge-patch+json");
        assertThat(body(1)).isEqualTo(Json.parse("""
                                {"count":2,"message":"Node n1 status is now: NodeNotReady","lastTimestamp":"2026-01-01T00:01:30Z"}"""));
    }

    @Test
    void createsACountedEventAgainIfItHasExpired() {
        recorder.record(NODE, EventRecorder.NORMAL, "R", "m");
        time.advance(Duration.ofHours(2));
        transport.answer(call -> Optional.of(
                call.method().equals("PATCH")
                        ? FakeTransport.refusal(new ApiException(404, "NotFound", "gone"))
                        : new Reply(201, call.body())));

        recorder.record(NODE, EventRecorder.NORMAL, "R", "m");
        settle();

        assertThat(methods()).containsExactly("POST", "PATCH", "POST");
        assertThat(body(2).number("count")).contains(2L);
        assertThat(body(2).text("firstTimestamp")).isEqualTo("2026-01-01T00:00:00Z");
        assertThat(body(2).text("lastTimestamp")).isEqualTo("2026-01-01T02:00:00Z");
    }

    @Test
    void combinesWhatDiffersOnlyInItsMessageAfterTen() {
        for (int i = 1; i <= 12; i++) {
            recorder.record(NODE, EventRecorder.NORMAL, "R", "message " + i);
        }
        settle();

        assertThat(methods()).hasSize(11);
        assertThat(body(9).text("message")).isEqualTo("message 10");
        // the last two became one while they waited
        assertThat(methods().get(10)).isEqualTo("POST");
        assertThat(body(10).text("message")).isEqualTo("(combined from similar events): message 12");
        assertThat(body(10).number("count")).contains(2L);
    }

    /** The name of a pod's image, which may have 700 KB, is part of messages. */
    @Test
    void cutsALongMessageInTheEventAndInTheLog() {
        LogLines log = LogLines.of(ApiEventRecorder.class);

        recorder.record(POD, EventRecorder.NORMAL, "Pulling", "Pulling image \"" + "x".repeat(700_000) + "\"");
        settle();

        assertThat(body(0).text("message"))
                .hasSize(1_024)
                .startsWith("Pulling image \"xxx")
                .endsWith("xxx...");
        assertThat(log.lines()).hasSize(1).allMatch(line -> line.length() < 1_200);
    }

    @Test
    void cutsBetweenCharactersAndNotWithinOne() {
        recorder.record(POD, EventRecorder.NORMAL, "R", "x".repeat(1_020) + "\ud83d\ude00".repeat(10));
        settle();

        assertThat(body(0).text("message")).isEqualTo("x".repeat(1_020) + "...");
    }

    @Test
    void leavesAMessageOfTheLongestLength() {
        recorder.record(POD, EventRecorder.NORMAL, "R", "x".repeat(1_024));
        settle();

        assertThat(body(0).text("message")).isEqualTo("x".repeat(1_024));
    }

    @Test
    void forgetsSimilarityAfterTenMinutesWithoutAny() {
        for (int i = 1; i <= 11; i++) {
            recorder.record(NODE, EventRecorder.NORMAL, "R", "message " + i);
        }
        time.advance(Duration.ofSeconds(601));

        recorder.record(NODE, EventRecorder.NORMAL, "R", "message 12");
        settle();

        assertThat(body(11).text("message")).isEqualTo("message 12");
    }

    @Test
    void dropsAFloodButNotOtherObjectsEvents() {
        for (int i = 0; i < 40; i++) {
            recorder.record(NODE, EventRecorder.NORMAL, "R", "m");
        }
        recorder.record(POD, EventRecorder.NORMAL, "R", "m");
        settle();

        assertThat(methods()).containsExactly("POST", "PATCH", "POST");
        assertThat(body(1).number("count"))
                .as("the other 24 of a burst are one write")
                .contains(25L);
        assertThat(transport.log().getLast()).isEqualTo("POST /api/v1/namespaces/shop/events");
    }

    @Test
    void letsOneMoreThroughEachFiveMinutesAfterAFlood() {
        for (int i = 0; i < 40; i++) {
            recorder.record(NODE, EventRecorder.NORMAL, "R", "m");
        }
        time.advance(Duration.ofSeconds(301));
        transport.clear();

        recorder.record(NODE, EventRecorder.NORMAL, "R", "m");
        recorder.record(NODE, EventRecorder.NORMAL, "R", "m");
        settle();

        assertThat(methods()).containsExactly("PATCH");
        assertThat(body(0).number("count")).as("dropped ones are counted").contains(41L);
    }

    @Test
    void triesAgainWhileTheServerIsAwayAndKeepsTheOrder() {
        transport.answer(call -> {
            throw new TransportException("connection refused", null);
        });
        recorder.record(NODE, EventRecorder.NORMAL, "First", "m");
        recorder.record(NODE, EventRecorder.NORMAL, "Second", "m");
        time.advance(Duration.ofSeconds(2));
        transport.clear();
        acceptEverything();

        time.advance(Duration.ofSeconds(5));

        assertThat(transport.calls().stream()
                        .map(call -> Json.parseObject(call.body()).text("reason")))
                .containsExactly("First", "Second");
    }

    @Test
    void reportsNoLossOfAnEventThatWasWrittenWithoutAnAnswer() {
        LogLines log = LogLines.of(ApiEventRecorder.class);
        transport.answer(call -> Optional.empty());
        recorder.record(NODE, EventRecorder.NORMAL, "R", "m");
        settle();
        transport.answer(
                call -> Optional.of(FakeTransport.refusal(new ApiException(409, "AlreadyExists", "already exists"))));

        time.advance(Duration.ofHours(1));

        assertThat(methods()).containsExactly("POST", "POST");
        assertThat(log.lines()).noneMatch(line -> line.contains("lost"));
    }

    @Test
    void reportsAnEventAsLostIfItsNameIsTaken() {
        LogLines log = LogLines.of(ApiEventRecorder.class);
        transport.answer(
                call -> Optional.of(FakeTransport.refusal(new ApiException(409, "AlreadyExists", "already exists"))));

        recorder.record(NODE, EventRecorder.NORMAL, "R", "m");
        settle();

        assertThat(log.lines()).anyMatch(line -> line.endsWith("(R) of n1 is lost: already exists"));
    }

    @Test
    void givesAnEventUpAfterTwelveTries() {
        transport.answer(call -> Optional.empty());

        recorder.record(NODE, EventRecorder.NORMAL, "R", "m");
        time.advance(Duration.ofHours(1));

        assertThat(transport.log()).hasSize(12);
    }

    @Test
    void doesNotArgueWithARefusal() {
        transport.answer(call -> Optional.of(FakeTransport.refusal(new ApiException(403, "Forbidden", "no"))));

        recorder.record(NODE, EventRecorder.NORMAL, "R", "m");
        time.advance(Duration.ofHours(1));

        assertThat(transport.log()).hasSize(1);
    }

    @Test
    void givesEventsOfOneInstantDifferentNames() {
        recorder.record(NODE, EventRecorder.NORMAL, "A", "m");
        recorder.record(NODE, EventRecorder.NORMAL, "B", "m");
        settle();

        assertThat(List.of(
                        body(0).object("metadata").text("name"),
                        body(1).object("metadata").text("name")))
                .doesNotHaveDuplicates();
    }

    /** What pods make the kernel log must not hide what the agent says about the node. */
    @Test
    void aFloodOfOneComponentLeavesTheEventsOfAnother() {
        EventRecorder kernel = recorder.of("kernel-monitor");
        for (int i = 0; i < 30; i++) {
            kernel.record(NODE, EventRecorder.WARNING, "OOMKilling", "Killed process " + i);
        }
        recorder.record(NODE, EventRecorder.NORMAL, "NodeNotReady", "Node n1 status is now: NodeNotReady");
        settle();

        assertThat(transport.log()).hasSizeLessThanOrEqualTo(26);
        JsonObject last = body(transport.log().size() - 1);
        assertThat(last.text("reason")).isEqualTo("NodeNotReady");
        assertThat(last.object("source").text("component")).isEqualTo("node-controller");
        assertThat(body(0).object("source").text("component")).isEqualTo("kernel-monitor");
        assertThat(body(0).text("reportingComponent")).isEqualTo("kernel-monitor");
    }

    @Test
    void remembersABoundedNumberOfObjects() {
        EventCorrelator correlator = new EventCorrelator();
        for (int i = 0; i <= EventCorrelator.REMEMBERED; i++) {
            correlator.observe(input("n" + i), "name-" + i, Instant.EPOCH, 0);
        }

        assertThat(correlator
                        .observe(input("n0"), "new", Instant.EPOCH, 0)
                        .orElseThrow()
                        .count())
                .as("the oldest is forgotten")
                .isEqualTo(1);
        assertThat(correlator
                        .observe(input("n9"), "new", Instant.EPOCH, 0)
                        .orElseThrow()
                        .count())
                .isEqualTo(2);
    }

    private static EventCorrelator.Input input(String node) {
        return new EventCorrelator.Input(new ObjectRef("v1", "Node", "", node, ""), "Normal", "R", "m", "kubelet");
    }

    private void settle() {
        time.advance(Duration.ofMillis(1));
    }

    private List<String> methods() {
        return transport.calls().stream().map(Call::method).toList();
    }

    private JsonObject body(int index) {
        return Json.parseObject(transport.calls().get(index).body());
    }
}
