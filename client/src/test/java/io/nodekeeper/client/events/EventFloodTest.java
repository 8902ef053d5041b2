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
import io.nodekeeper.client.Transport;
import io.nodekeeper.time.Randoms;
import io.nodekeeper.time.VirtualTime;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/**
 * More events than the API server accepts: important events arrive, the others are counted, and the log stays small.
 */
class EventFloodTest {
    private final VirtualTime time = new VirtualTime(Instant.parse("2026-01-01T00:00:00Z"));
    private final VirtualTime.VirtualLoop loop = time.loop("events");
    private final List<String> written = new ArrayList<>();
    private final Map<ApiEventRecorder.Outcome, Integer> outcomes = new EnumMap<>(ApiEventRecorder.Outcome.class);
    private Duration service = Duration.ofMillis(20);

    private final class Server implements Transport {
        @Override
        public CompletableFuture<Reply> send(Call call) {
            CompletableFuture<Reply> reply = new CompletableFuture<>();
            loop.schedule(service, () -> {
                written.add(Json.parseObject(call.body()).text("reason"));
                reply.complete(FakeTransport.reply(201, JsonObject.EMPTY));
            });
            return reply;
        }

        @Override
        public Stream open(Call call, StreamHandler handler) {
            throw new IllegalStateException("no watch is expected");
        }

        @Override
        public void close() {}
    }

    private final ApiEventRecorder recorder = new ApiEventRecorder(
            new KubeClient(new Server(), loop, Duration.ofSeconds(10)),
            "node-controller",
            "",
            Randoms.seeded(1),
            outcome -> outcomes.merge(outcome, 1, Integer::sum));

    private static ObjectRef node(int number) {
        return new ObjectRef("v1", "Node", "", "n" + number, "uid-" + number);
    }

    private int count(ApiEventRecorder.Outcome outcome) {
        return outcomes.getOrDefault(outcome, 0);
    }

    @Test
    void churnOfFiftyFiveNodesASecondForTenMinutesLosesNoVerdictAndFillsNoLog() {
        LogLines log = LogLines.of(ApiEventRecorder.class);
        int verdicts = 0;
        int recorded = 0;
        for (int second = 0; second < 600; second++) {
            for (int i = 0; i < 55; i++) {
                int number = 55 * second + i;
                recorder.record(node(number), EventRecorder.NORMAL, "RegisteredNode", "Registered Node n" + number);
                recorder.record(node(number), EventRecorder.NORMAL, "RemovingNode", "Removing Node n" + number);
                recorded += 2;
            }
            if (second % 10 == 0) {
                recorder.record(node(second), EventRecorder.NORMAL, "NodeNotReady", "Node is now: NodeNotReady");
                verdicts++;
                recorded++;
            }
            time.advance(Duration.ofSeconds(1));
        }
        assertThat(written.stream().filter("NodeNotReady"::equals))
                .as("no verdict waits behind routine")
                .hasSize(verdicts);
        time.advance(Duration.ofMinutes(2));

        // the server takes 50 a second of 110
        assertThat(written).hasSizeBetween(30_000, 31_500);
        assertThat(count(ApiEventRecorder.Outcome.WRITTEN) + count(ApiEventRecorder.Outcome.DROPPED))
                .as("each event is accounted for")
                .isEqualTo(recorded);
        // 100 at once and 1 a second are logged, and of losses 2 lines a minute
        assertThat(log.lines()).hasSizeLessThan(100 + 720 + 2 * 12 + 1);
        assertThat(log.warnings()).hasSizeBetween(10, 2 * 12);
        assertThat(log.warnings().get(1))
                .matches("[0-9]+ more events are lost in the last 60 s: RegisteredNode \\(queue full\\) [0-9]+,"
                        + " RemovingNode \\(queue full\\) [0-9]+");
    }

    @Test
    void eventThatHappensOftenWhileItWaitsIsOneWrite() {
        service = Duration.ofSeconds(1);
        recorder.record(node(0), EventRecorder.NORMAL, "First", "keeps the server busy");
        time.advance(Duration.ofMillis(1));
        for (int i = 0; i < 20; i++) {
            recorder.record(node(1), EventRecorder.NORMAL, "Again", "the same");
        }
        time.advance(Duration.ofMinutes(1));

        assertThat(written).containsExactly("First", "Again");
        assertThat(count(ApiEventRecorder.Outcome.MERGED)).isEqualTo(19);
    }

    @Test
    void importantEventsOvertakeAndRoutineMakesRoom() {
        EventQueue queue = new EventQueue();
        for (int i = 0; i < EventQueue.ROOM; i++) {
            assertThat(queue.add(send(i, "Node", "RegisteredNode"))).isEmpty();
        }

        // when a pod's event and a node's come
        assertThat(queue.add(send(5_000, "Pod", "NodeNotReady")))
                .hasValueSatisfying(
                        dropped -> assertThat(dropped.write().name()).isEqualTo("event0"));
        assertThat(queue.add(send(5_001, "Node", "NodeNotReady")))
                .hasValueSatisfying(
                        dropped -> assertThat(dropped.write().name()).isEqualTo("event1"));

        assertThat(queue.size()).isEqualTo(EventQueue.ROOM);
        assertThat(queue.poll().orElseThrow().write().name()).isEqualTo("event5001");
        assertThat(queue.poll().orElseThrow().write().name()).isEqualTo("event5000");
        assertThat(queue.poll().orElseThrow().write().name()).isEqualTo("event2");
    }

    @Test
    void queueFullOfVerdictsDropsRoutineAtTheDoorAndThenTheOldestVerdicts() {
        EventQueue queue = new EventQueue();
        for (int i = 0; i < EventQueue.ROOM; i++) {
            queue.add(send(i, "Node", "NodeNotReady"));
        }
        assertThat(queue.add(send(2_000, "Node", "RegisteredNode")))
                .hasValueSatisfying(
                        dropped -> assertThat(dropped.write().name()).isEqualTo("event2000"));
        assertThat(queue.add(send(2_001, "Node", "NodeNotReady")))
                .hasValueSatisfying(
                        dropped -> assertThat(dropped.write().name()).isEqualTo("event0"));
        assertThat(queue.size()).isEqualTo(EventQueue.ROOM);
    }

    private static EventQueue.Send send(int number, String kind, String reason) {
        return new EventQueue.Send(
                new EventCorrelator.Input(
                        new ObjectRef("v1", kind, "", "o" + number, ""), "Normal", reason, "m", "kubelet"),
                new EventCorrelator.Write("event" + number, "m", Instant.EPOCH, 1),
                Instant.EPOCH,
                true);
    }

    @Test
    void refusalOfEveryEventIsOneLineAMinute() {
        LogLines log = LogLines.of(ApiEventRecorder.class);
        FakeTransport refusing = new FakeTransport();
        refusing.answer(
                call -> Optional.of(FakeTransport.refusal(new ApiException(403, "Forbidden", "no events for you"))));
        ApiEventRecorder unwelcome = new ApiEventRecorder(
                new KubeClient(refusing, loop, Duration.ofSeconds(10)), "node-controller", "", Randoms.seeded(1));
        for (int second = 0; second < 600; second++) {
            for (int i = 0; i < 50; i++) {
                unwelcome.record(node(50 * second + i), EventRecorder.WARNING, "NodeNotReady", "m");
            }
            time.advance(Duration.ofSeconds(1));
        }
        time.advance(Duration.ofMinutes(2));

        assertThat(log.warnings()).hasSizeBetween(10, 2 * 12);
        assertThat(log.warnings().getFirst()).endsWith("is lost: no events for you");
    }
}
