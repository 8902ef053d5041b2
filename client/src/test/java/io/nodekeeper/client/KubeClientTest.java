package io.nodekeeper.client;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.api.ResourceType;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.time.VirtualTime;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** The calls of a client. */
class KubeClientTest {
    private final VirtualTime time = new VirtualTime(Instant.parse("2026-01-01T00:00:00Z"));
    private final FakeTransport transport = new FakeTransport();
    private final KubeClient client = new KubeClient(transport, time.loop("client"), Duration.ofSeconds(10));

    @Test
    void aCallAboutANameThatNoObjectCanHaveFailsAndIsNotSent() {
        List<CompletableFuture<JsonObject>> results = List.of(
                client.get(ResourceType.NODES, "", "n1#1"),
                client.delete(ResourceType.PODS, "default", "", JsonObject.EMPTY),
                client.patch(ResourceType.NODES, "", "../pods", "status", PatchType.MERGE, JsonObject.EMPTY));
        time.advance(Duration.ofMillis(1));

        assertThat(transport.log()).isEmpty();
        assertThat(results)
                .allSatisfy(result -> assertThat(result)
                        .isCompletedExceptionally()
                        .failsWithin(Duration.ZERO)
                        .withThrowableThat()
                        .withCauseInstanceOf(TransportException.class));
    }
}
