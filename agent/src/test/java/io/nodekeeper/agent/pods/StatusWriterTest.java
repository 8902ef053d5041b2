package io.nodekeeper.agent.pods;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.agent.pods.model.Pod;
import io.nodekeeper.api.ApiException;
import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.client.FakeTransport;
import io.nodekeeper.client.KubeClient;
import io.nodekeeper.time.VirtualTime;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Writes of a pod's status, in virtual time. */
class StatusWriterTest {
    private static final JsonObject RUNNING = Json.parseObject("{\"phase\": \"Running\"}");
    private static final JsonObject FAILED = Json.parseObject("{\"phase\": \"Failed\"}");

    private final VirtualTime time = new VirtualTime(Instant.parse("2026-01-01T00:00:00Z"));
    private final FakeTransport transport = new FakeTransport();
    /** The codes of the next refusals. */
    private final Deque<Integer> refusals = new ArrayDeque<>();

    private final Pod pod =
            new Pod(Json.parseObject("{\"metadata\": {\"name\": \"web\", \"namespace\": \"shop\", \"uid\": \"u1\"}}"));
    private final StatusWriter writer = new StatusWriter(
            new KubeClient(transport, time.loop("agent"), Duration.ofSeconds(10)), named -> Optional.of(pod));

    private void answer() {
        transport.answer(call -> Optional.of(
                refusals.isEmpty()
                        ? FakeTransport.reply(200, pod.json())
                        : FakeTransport.refusal(new ApiException(refusals.remove(), "Reason", "no"))));
    }

    /** As while a server reads its roles. */
    @Test
    void aRefusedStatusIsWrittenAgainAndHoldsUpNothing() {
        answer();
        refusals.add(403);
        refusals.add(409);

        writer.report(pod, RUNNING);
        time.advance(Duration.ofSeconds(1));
        assertThat(transport.calls()).hasSize(1);
        assertThat(writer.idle()).isCompleted();
        time.advance(Duration.ofMinutes(2));

        assertThat(transport.calls()).hasSize(3);
        time.advance(Duration.ofHours(1));
        assertThat(transport.calls()).hasSize(3);
    }

    @Test
    void aNewerStatusTakesThePlaceOfTheRefusedOne() {
        answer();
        refusals.add(422);
        writer.report(pod, RUNNING);
        time.advance(Duration.ofSeconds(1));

        writer.report(pod, FAILED);
        time.advance(Duration.ofMinutes(2));

        assertThat(transport.calls()).hasSize(2);
        assertThat(new String(transport.calls().getLast().body(), StandardCharsets.UTF_8))
                .contains("Failed");
    }

    /** Addresses are merged by address, so the former one goes only by a replacement; also before the watch shows it. */
    @Test
    void aNewAddressTakesThePlaceOfTheOneThatTheServerAnswered() {
        JsonObject first = Json.parseObject("{\"podIP\": \"10.1.0.7\", \"podIPs\": [{\"ip\": \"10.1.0.7\"}]}");
        JsonObject second = Json.parseObject("{\"podIP\": \"10.1.0.8\", \"podIPs\": [{\"ip\": \"10.1.0.8\"}]}");
        transport.answer(call -> Optional.of(FakeTransport.reply(200, pod.json().with("status", first))));
        writer.report(pod, first);
        time.advance(Duration.ofSeconds(1));

        writer.report(pod, second);
        time.advance(Duration.ofSeconds(1));

        assertThat(transport.calls().getLast().contentType()).contains("application/strategic-merge-patch+json");
        assertThat(Json.parseObject(transport.calls().getLast().body()).object("status"))
                .isEqualTo(Json.parseObject(
                        "{\"podIP\": \"10.1.0.8\", \"podIPs\": [{\"ip\": \"10.1.0.8\"}, {\"$patch\": \"replace\"}]}"));
    }

    @Test
    void theStatusOfAPodThatIsGoneIsGivenUp() {
        answer();
        refusals.add(404);

        writer.report(pod, RUNNING);
        time.advance(Duration.ofHours(1));

        assertThat(transport.calls()).hasSize(1);
        assertThat(writer.idle()).isCompleted();
    }
}
