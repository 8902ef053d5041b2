package io.nodekeeper.agent.companion;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.agent.facts.ConditionReport;
import io.nodekeeper.api.ApiException;
import io.nodekeeper.api.Condition;
import io.nodekeeper.api.Node;
import io.nodekeeper.api.ResourceType;
import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.api.patch.StrategicMergePatch;
import io.nodekeeper.api.schema.Schemas;
import io.nodekeeper.client.Call;
import io.nodekeeper.client.FakeTransport;
import io.nodekeeper.client.KubeClient;
import io.nodekeeper.client.Reply;
import io.nodekeeper.time.Randoms;
import io.nodekeeper.time.VirtualTime;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A writer that is called each second, and an API server with versions whose watch can be stopped. */
class ConditionWriterTest {
    private static final ConditionReport FINE =
            new ConditionReport("RuntimeDegraded", "False", "RuntimeResponsive", "fine");
    private static final ConditionReport HUNG =
            new ConditionReport("RuntimeDegraded", "True", "ShimStopped", "shim of pod a/b is stopped");

    private final VirtualTime time = new VirtualTime(Instant.parse("2026-01-01T00:00:00Z"));
    private final VirtualTime.VirtualLoop loop = time.loop("companion");
    private final FakeTransport transport = new FakeTransport();
    private final KubeClient client = new KubeClient(transport, loop, Duration.ofSeconds(10));
    private final ConditionWriter writer = new ConditionWriter("n1", client, Randoms.seeded(1));
    private final List<String> writes = new ArrayList<>();
    private Optional<Node> stored = Optional.empty();
    private Optional<Node> watched = Optional.empty();
    private List<ConditionReport> reports = List.of(FINE);
    private boolean watching = true;
    private int refusal;
    private boolean hung;
    private int version;

    @BeforeEach
    void serve() {
        transport.answer(call -> {
            writes.add(time.elapsed().toSeconds() + " " + call);
            if (hung) {
                return Optional.empty();
            }
            if (refusal != 0) {
                return Optional.of(FakeTransport.refusal(new ApiException(refusal, "", "refused")));
            }
            return Optional.of(patched(call));
        });
    }

    private Reply patched(Call call) {
        assertThat(call.toString()).isEqualTo("PATCH /api/v1/nodes/n1/status");
        assertThat(call.contentType()).isEqualTo("application/strategic-merge-patch+json");
        if (stored.isEmpty()) {
            return FakeTransport.refusal(ApiException.notFound(ResourceType.NODES, "n1"));
        }
        store(new Node(StrategicMergePatch.apply(stored.get().json(), Json.parseObject(call.body()), Schemas.NODE)));
        return FakeTransport.reply(200, stored.get().json());
    }

    private void store(Node node) {
        version++;
        stored = Optional.of(new Node(node.json()
                .update("metadata", metadata -> metadata.with("resourceVersion", Integer.toString(version)))));
        if (watching) {
            watched = stored;
        }
    }

    /** Another client creates the Node, as a kubelet does. */
    private void register(String uid) {
        store(new Node(Json.parseObject("{\"metadata\":{\"name\":\"n1\",\"uid\":\"" + uid
                + "\"},\"status\":{\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\"}]}}")));
    }

    private void seconds(int count) {
        for (int i = 0; i < count; i++) {
            time.advance(Duration.ofSeconds(1));
            writer.update(watched, reports);
            time.advance(Duration.ZERO);
        }
    }

    private Condition condition() {
        return stored.orElseThrow().condition("RuntimeDegraded").orElseThrow();
    }

    @Test
    void withoutANodeItWaitsAndMakesNoCall() {
        seconds(600);

        assertThat(writes).isEmpty();
        assertThat(writer.written()).isFalse();

        register("u1");
        seconds(2);

        assertThat(writes).containsExactly("601 PATCH /api/v1/nodes/n1/status");
        assertThat(condition().status()).isEqualTo("False");
        assertThat(stored.orElseThrow().isReady()).isTrue();
        assertThat(writer.written()).isTrue();
    }

    @Test
    void anUnchangedConditionIsWrittenEachFiveMinutesAndAChangedOneWithinASecond() {
        register("u1");
        seconds(3_600);

        assertThat(writes).hasSizeBetween(12, 14);

        int before = writes.size();
        reports = List.of(HUNG);
        seconds(1);

        assertThat(writes).hasSize(before + 1);
        assertThat(condition().reason()).isEqualTo("ShimStopped");
    }

    @Test
    void aNodeThatWasCreatedAgainGetsTheConditionsAgain() {
        register("u1");
        seconds(2);

        stored = Optional.empty();
        watched = Optional.empty();
        seconds(60);
        assertThat(writes).hasSize(1);

        register("u2");
        seconds(2);
        assertThat(writes).hasSize(2);
        assertThat(condition().reason()).isEqualTo("RuntimeResponsive");
    }

    @Test
    void aNodeThatIsGoneWhileTheWatchIsLateIsNotCreated() {
        register("u1");
        watching = false;
        stored = Optional.empty();
        seconds(120);

        assertThat(writes).allMatch(write -> write.contains(" PATCH /api/v1/nodes/n1/status"));
        // Pauses of 1 s to 45 s, and one write each 10 s at most.
        assertThat(writes).hasSizeBetween(4, 16);
        assertThat(stored).isEmpty();
    }

    @Test
    void aLateWatchCausesNoSecondWriteUntilItIsTenSecondsLate() {
        register("u1");
        watching = false;
        seconds(9);

        assertThat(writes).hasSize(1);
    }

    @Test
    void refusedWritesAreRepeatedWithGrowingPauses() {
        register("u1");
        refusal = 503;
        seconds(300);
        int refused = writes.size();
        refusal = 0;
        seconds(60);

        assertThat(refused).isBetween(8, 30);
        assertThat(condition().reason()).isEqualTo("RuntimeResponsive");
    }

    @Test
    void aConditionThatFlapsCausesOneWriteEachTenSeconds() {
        register("u1");
        for (int i = 0; i < 300; i++) {
            reports = List.of(i % 2 == 0 ? HUNG : FINE);
            seconds(1);
        }

        assertThat(writes.size()).isLessThanOrEqualTo(ConditionWriter.BURST + 31);
    }

    @Test
    void anotherProgramThatWritesTheSameTypesIsOverwrittenAtTheSameRate() {
        register("u1");
        for (int i = 0; i < 300; i++) {
            store(new Node(StrategicMergePatch.apply(
                    stored.orElseThrow().json(),
                    Json.parseObject(
                            "{\"status\":{\"conditions\":[{\"type\":\"RuntimeDegraded\",\"status\":\"True\"}]}}"),
                    Schemas.NODE)));
            seconds(1);
        }

        assertThat(writes.size()).isBetween(30, ConditionWriter.BURST + 31);
    }

    @Test
    void atItsEndTheConditionsAreUnknownAndNothingFollows() {
        register("u1");
        reports = List.of(HUNG);
        seconds(2);

        CompletableFuture<Void> done = writer.withdraw(watched, reports);
        time.advance(Duration.ZERO);

        assertThat(done).isCompleted();
        assertThat(condition().status()).isEqualTo("Unknown");
        assertThat(condition().reason()).isEqualTo("CompanionStopped");
        assertThat(stored.orElseThrow().isReady()).isTrue();
        seconds(600);
        assertThat(writes).hasSize(2);
    }

    @Test
    void theEndWaitsForTheWriteThatIsUnderWay() {
        register("u1");
        hung = true;
        seconds(1);
        hung = false;

        CompletableFuture<Void> done = writer.withdraw(watched, reports);
        time.advance(Duration.ofSeconds(5));
        assertThat(done).isNotDone();

        // The deadline of the first write.
        time.advance(Duration.ofSeconds(10));
        assertThat(done).isCompleted();
    }

    @Test
    void aRefusedEndIsAnEnd() {
        register("u1");
        seconds(2);
        refusal = 503;

        CompletableFuture<Void> done = writer.withdraw(watched, reports);
        time.advance(Duration.ZERO);

        assertThat(done).isCompleted();
        assertThat(condition().status()).isEqualTo("False");
    }

    @Test
    void theFirstRefreshesOfManyNodesAreSpread() {
        List<Long> firsts = new ArrayList<>();
        for (int seed = 0; seed < 20; seed++) {
            ConditionWriterTest other = new ConditionWriterTest();
            other.serve();
            ConditionWriter own = new ConditionWriter("n1", other.client, Randoms.seeded(seed));
            other.register("u" + seed);
            for (int i = 0; i < 500 && other.writes.size() < 2; i++) {
                other.time.advance(Duration.ofSeconds(1));
                own.update(other.watched, other.reports);
                other.time.advance(Duration.ZERO);
            }
            firsts.add(other.time.elapsed().toSeconds());
        }

        assertThat(firsts).allMatch(second -> second >= 150 && second <= 452);
        assertThat(firsts.stream().distinct().count()).isGreaterThan(10);
    }

    @Test
    void aPatchNamesNoResourceVersionAndNoOrder() {
        register("u1");
        seconds(1);

        JsonObject body = Json.parseObject(transport.calls().getFirst().body());
        assertThat(body.fields().keySet()).containsExactly("status");
        assertThat(body.object("status").fields().keySet()).containsExactly("conditions");
    }
}
