package io.nodekeeper.controller.pods;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.nodekeeper.api.ApiException;
import io.nodekeeper.api.Node;
import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.client.FakeTransport;
import io.nodekeeper.client.KubeClient;
import io.nodekeeper.client.Reply;
import io.nodekeeper.time.VirtualTime;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.junit.jupiter.api.Test;

/** When one live read of a node serves several pods. A read is valid for 1 s. */
class NodeReadsTest {
    private static final Reply NODE =
            FakeTransport.reply(200, Json.parseObject("{\"metadata\":{\"name\":\"n1\",\"uid\":\"u1\"}}"));

    private final VirtualTime time = new VirtualTime(Instant.parse("2020-01-01T00:00:00Z"));
    private final FakeTransport server = new FakeTransport();
    private final NodeReads reads =
            new NodeReads(new KubeClient(server, time.loop("controller"), Duration.ofSeconds(2)));
    private final HostNode node = new HostNode("n1");
    private Reply answer = NODE;

    NodeReadsTest() {
        server.answer(call -> Optional.of(answer));
    }

    @Test
    void readsTheNodeByItsName() {
        assertThat(ended(reads.at(node)).join().map(Node::uid)).contains("u1");

        assertThat(server.log()).containsExactly("GET /api/v1/nodes/n1");
    }

    @Test
    void nodeThatDoesNotExistIsAbsent() {
        answer = FakeTransport.reply(404, JsonObject.EMPTY);

        assertThat(ended(reads.fresh("n1")).join()).isEmpty();
    }

    @Test
    void nodeThatCannotBeReadIsNotAbsent() {
        answer = FakeTransport.reply(403, JsonObject.EMPTY);
        CompletableFuture<Optional<Node>> look = ended(reads.fresh("n1"));

        assertThatThrownBy(look::join).isInstanceOf(CompletionException.class).hasCauseInstanceOf(ApiException.class);
    }

    @Test
    void oneReadServesAllPodsForASecond() {
        ended(reads.at(node));
        time.advance(Duration.ofMillis(999));

        ended(reads.at(node));

        assertThat(server.calls()).hasSize(1);
    }

    @Test
    void nodeIsReadAgainAfterASecond() {
        ended(reads.at(node));
        time.advance(Duration.ofMillis(1_001));

        ended(reads.at(node));

        assertThat(server.calls()).hasSize(2);
    }

    @Test
    void readIsValidAtTheEndOfItsSecond() {
        ended(reads.at(node));
        CompletableFuture<Optional<Node>> look = node.liveRead;
        time.advance(Duration.ofSeconds(1));
        // Its release is due at this moment, too; here it is not yet done.
        node.liveRead = look;

        ended(reads.at(node));

        assertThat(server.calls()).hasSize(1);
    }

    @Test
    void answerIsReleasedAfterASecondAsItHoldsTheWholeNode() {
        ended(reads.at(node));
        assertThat(node.liveRead).isNotNull();

        time.advance(Duration.ofMillis(1_001));

        assertThat(node.liveRead).isNull();
    }

    @Test
    void endOfAnOlderReadDoesNotReleaseANewerOne() {
        // Given a read at 0 s, a change of the node, and a read at 0.5 s
        ended(reads.at(node));
        time.advance(Duration.ofMillis(500));
        node.liveRead = null;
        ended(reads.at(node));

        // When the second of the first read is over
        time.advance(Duration.ofMillis(600));

        // Then the second read is still valid
        assertThat(node.liveRead).isNotNull();
        ended(reads.at(node));
        assertThat(server.calls()).hasSize(2);
    }

    @Test
    void readThatFailedServesNoOtherPod() {
        answer = FakeTransport.reply(500, JsonObject.EMPTY);
        ended(reads.at(node));
        answer = NODE;

        assertThat(ended(reads.at(node)).join()).isPresent();
        assertThat(server.calls()).hasSize(2);
    }

    private <T> CompletableFuture<T> ended(CompletableFuture<T> look) {
        time.advance(Duration.ZERO);
        assertThat(look).isDone();
        return look;
    }
}
