package io.nodekeeper.cli.why;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.client.Call;
import io.nodekeeper.client.KubeClient;
import io.nodekeeper.client.Reply;
import io.nodekeeper.client.Transport;
import io.nodekeeper.client.TransportException;
import io.nodekeeper.time.Loop;
import io.nodekeeper.time.VirtualTime;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** Stories while the API server does not answer. */
class NodeStoryTest {
    private final VirtualTime time = new VirtualTime(Instant.parse("2026-11-30T12:00:00Z"));
    private final Loop loop = time.loop("controller");
    /** Requests that wait for a free connection, which no deadline of a request ends. */
    private final List<CompletableFuture<Reply>> waiting = new ArrayList<>();

    private final NodeStory stories =
            new NodeStory(Optional.of(new KubeClient(new Hanging(), loop, Duration.ofSeconds(30))), time.loop("timer"));

    private final class Hanging implements Transport {
        @Override
        public CompletableFuture<Reply> send(Call call) {
            throw new AssertionError("sent without a deadline: " + call);
        }

        @Override
        public CompletableFuture<Reply> send(Call call, Loop timer, Duration deadline) {
            assertThat(deadline).isEqualTo(Duration.ofSeconds(3));
            CompletableFuture<Reply> reply = new CompletableFuture<>();
            waiting.add(reply);
            return reply;
        }

        @Override
        public Stream open(Call call, StreamHandler handler) {
            throw new AssertionError("opened: " + call);
        }

        @Override
        public void close() {}
    }

    private CompletableFuture<JsonObject> read() {
        return stories.of("n1", JsonObject.EMPTY, 10, true);
    }

    @Test
    void requestsThatHangAreAtMostThoseOfFourStories() {
        // given four stories whose requests hang
        List<CompletableFuture<JsonObject>> first = List.of(read(), read(), read(), read());
        assertThat(waiting).hasSize(12);

        // when their deadline is over, then they are told without the API
        time.advance(Duration.ofSeconds(3));
        assertThat(first).allMatch(story -> story.isDone() && !story.isCompletedExceptionally());

        // and others read nothing as long as those requests hang
        assertThat(read()).isCompleted();
        assertThat(waiting).hasSize(12);

        // but when these have ended
        waiting.forEach(reply -> reply.completeExceptionally(new TransportException("no connection", null)));
        time.advance(Duration.ofSeconds(1));
        read();
        assertThat(waiting).hasSize(15);
    }
}
