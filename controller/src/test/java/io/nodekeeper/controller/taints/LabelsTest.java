package io.nodekeeper.controller.taints;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.api.ApiException;
import io.nodekeeper.api.Node;
import io.nodekeeper.api.ResourceType;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.client.Call;
import io.nodekeeper.client.FakeTransport;
import io.nodekeeper.client.KubeClient;
import io.nodekeeper.client.LogLines;
import io.nodekeeper.client.Reply;
import io.nodekeeper.client.workqueue.KeyedJobs;
import io.nodekeeper.client.workqueue.PriorityWorkQueue;
import io.nodekeeper.controller.TestCluster;
import io.nodekeeper.controller.heartbeats.NodeHealth;
import io.nodekeeper.time.VirtualTime;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The beta labels follow the stable ones. */
@Tag("L76")
class LabelsTest {
    private static final String OS = "kubernetes.io/os";
    private static final String BETA_OS = "beta.kubernetes.io/os";

    private final VirtualTime time = new VirtualTime(Instant.parse("2020-01-01T00:00:00Z"));
    private final VirtualTime.VirtualLoop loop = time.loop("controller");
    private final FakeTransport transport = new FakeTransport();
    private final PriorityWorkQueue workQueue = new PriorityWorkQueue(1);
    private final Labels labels = new Labels(new KubeClient(transport, loop, Duration.ofSeconds(10)), workQueue);
    private final NodeHealth health = new NodeHealth("n1");
    private final LogLines faults = LogLines.of(KeyedJobs.class);
    private Function<Call, Optional<Reply>> server = call -> Optional.of(FakeTransport.reply(200, JsonObject.EMPTY));

    LabelsTest() {
        transport.answer(call -> server.apply(call));
        health.identify("uid-1", "1");
    }

    @AfterEach
    void noJobEndedUnexpectedly() {
        assertThat(faults.lines()).isEmpty();
    }

    @Test
    void labelThatIsMissingOrWrongIsNeeded() {
        assertThat(Labels.needed(node(Map.of(OS, "linux")))).containsExactly(Map.entry(BETA_OS, "linux"));
        assertThat(Labels.needed(node(Map.of(OS, "linux", BETA_OS, "windows"))))
                .containsExactly(Map.entry(BETA_OS, "linux"));
        assertThat(Labels.needed(node(Map.of(OS, "", BETA_OS, "windows")))).containsExactly(Map.entry(BETA_OS, ""));
        assertThat(Labels.needed(node(Map.of(OS, "")))).containsExactly(Map.entry(BETA_OS, ""));
    }

    @Test
    void labelThatIsRightOrHasNoTruthIsNot() {
        assertThat(Labels.needed(node(Map.of(OS, "linux", BETA_OS, "linux")))).isEmpty();
        assertThat(Labels.needed(node(Map.of(BETA_OS, "linux")))).isEmpty();
        assertThat(Labels.needed(node(Map.of("zone", "a")))).isEmpty();
    }

    @Test
    void labelIsWrittenOnceForTheVeryNode() {
        seen("linux");
        time.advance(Duration.ofMinutes(1));

        assertThat(transport.calls())
                .singleElement()
                .satisfies(call -> assertThat(new String(call.body(), StandardCharsets.UTF_8))
                        .isEqualTo(
                                "{\"metadata\":{\"uid\":\"uid-1\",\"labels\":{\"beta.kubernetes.io/os\":\"linux\"}}}"));
        assertThat(labels.size()).isZero();
    }

    @Test
    void valueThatChangesDuringTheWriteIsWrittenNext() {
        server = call -> {
            if (transport.calls().size() == 1) {
                seen("windows");
            }
            return Optional.of(FakeTransport.reply(200, JsonObject.EMPTY));
        };

        seen("linux");
        time.advance(Duration.ZERO);

        assertThat(transport.calls()).hasSize(2);
        assertThat(new String(transport.calls().getLast().body(), StandardCharsets.UTF_8))
                .contains("{\"beta.kubernetes.io/os\":\"windows\"}");
        assertThat(labels.size()).isZero();
    }

    @Test
    void failedWriteIsTriedAgainAfterOneTwoAndFourSeconds() {
        server = call -> Optional.of(TestCluster.internalError());
        seen("linux");
        time.advance(Duration.ofMillis(999));
        assertThat(transport.calls()).hasSize(1);
        assertThat(labels.size()).isEqualTo(1);

        time.advance(Duration.ofMillis(9_000));

        assertThat(transport.calls()).as("at 0, 1, 3 and 7 s").hasSize(4);
    }

    @Test
    void nodeThatIsGoneIsLeftAlone() {
        server = call -> Optional.of(FakeTransport.refusal(ApiException.notFound(ResourceType.NODES, "n1")));

        seen("linux");
        time.advance(Duration.ofMinutes(1));

        assertThat(transport.calls()).hasSize(1);
        assertThat(labels.size()).isZero();
    }

    @Test
    void nodeThatIsDeletedWhileItWaitsIsNotWritten() {
        CompletableFuture<Void> lane = new CompletableFuture<>();
        workQueue.submit(PriorityWorkQueue.Priority.ORDINARY, () -> lane);
        seen("linux");

        labels.gone(health);
        lane.complete(null);
        time.advance(Duration.ofSeconds(1));

        assertThat(transport.calls()).isEmpty();
        assertThat(labels.size()).isZero();
    }

    @Test
    void labelThatIsRightByThenIsNotWritten() {
        CompletableFuture<Void> lane = new CompletableFuture<>();
        workQueue.submit(PriorityWorkQueue.Priority.ORDINARY, () -> lane);
        seen("linux");

        labels.seen(health, node(Map.of(OS, "linux", BETA_OS, "linux")));
        lane.complete(null);
        time.advance(Duration.ofSeconds(1));

        assertThat(transport.calls()).isEmpty();
        assertThat(labels.size()).isZero();
    }

    @Test
    void nothingIsWrittenAgainOnceTheLanesAreClosed() {
        server = call -> {
            workQueue.close();
            return Optional.of(TestCluster.internalError());
        };

        seen("linux");
        time.advance(Duration.ofMinutes(1));

        assertThat(transport.calls()).hasSize(1);
    }

    private void seen(String os) {
        labels.seen(health, node(Map.of(OS, os)));
    }

    private static Node node(Map<String, String> labels) {
        return new Node(
                JsonObject.EMPTY.with("metadata", JsonObject.EMPTY.with("labels", JsonObject.ofStrings(labels))));
    }
}
