package io.nodekeeper.controller.pods;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.api.ApiException;
import io.nodekeeper.client.FakeTransport;
import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Work for pods follows the capacity of the server: its calls adapt the limit of concurrent jobs. */
class PodLoadTest {
    private final PodWorld world = new PodWorld();

    private void pods(String node, int count) {
        world.addNode(node);
        for (int i = 0; i < count; i++) {
            world.addPod(node + "-pod" + i, node);
        }
    }

    @Test
    void healthyEvictionsCompleteTheWindowThatMeasuresTheBase() {
        // given the pods of a node, and a server that needs 10 ms for a call
        pods("n1", 12);
        world.start();
        world.latency = call -> Duration.ofMillis(10);
        assertThat(world.limit()).isEqualTo(64);

        // when the first calls of evictions are answered
        world.taint("n1", "k:NoExecute@0");
        world.advance(Duration.ofMillis(15));
        assertThat(world.limit()).as("the first window runs at the minimum").isEqualTo(8);
        world.advance(Duration.ofSeconds(5));

        // then 16 answers end the first window, and the limit counts again
        assertThat(world.deletions).hasSize(12);
        assertThat(world.limit()).isEqualTo(64);
    }

    @Test
    void refusedEvictionsLowerTheLimit() {
        // given a limit that was measured
        pods("n1", 12);
        pods("n2", 12);
        world.start();
        world.latency = call -> Duration.ofMillis(10);
        world.taint("n1", "k:NoExecute@0");
        world.advance(Duration.ofSeconds(5));
        assertThat(world.limit()).isEqualTo(64);

        // when the server refuses evictions because it has too many requests
        world.fault = call -> call.method().equals("GET")
                ? Optional.empty()
                : Optional.of(FakeTransport.refusal(new ApiException(429, "TooManyRequests", "too many requests")));
        world.taint("n2", "k:NoExecute@0");
        world.advance(Duration.ofMillis(35));

        // then the limit is halved, once for all calls that were sent before
        assertThat(world.limit()).isEqualTo(32);
    }
}
