package io.nodekeeper.controller.debug;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.api.ApiException;
import io.nodekeeper.api.ResourceType;
import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.api.patch.MergePatch;
import io.nodekeeper.client.Call;
import io.nodekeeper.client.FakeTransport;
import io.nodekeeper.client.KubeClient;
import io.nodekeeper.client.Reply;
import io.nodekeeper.time.VirtualTime;
import java.net.URI;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** How {@code nodekeeper why} finds the leading controller. */
@Tag("W20")
class DebugAddressTest {
    private static final URI FIRST = URI.create("http://127.0.0.1:10257");
    private static final URI SECOND = URI.create("http://10.0.0.2:10257");

    private final VirtualTime time = new VirtualTime(Instant.parse("2015-01-01T12:00:00Z"));
    private final VirtualTime.VirtualLoop loop = time.loop("controller");
    private final FakeTransport transport = new FakeTransport();
    private final KubeClient client = new KubeClient(transport, loop, Duration.ofSeconds(2));
    private Optional<JsonObject> lease = Optional.empty();
    private boolean down;

    DebugAddressTest() {
        transport.answer(call -> Optional.of(serve(call)));
    }

    @Test
    void noAddressIsFoundBeforeAControllerPublishesOne() {
        assertThat(find()).isEmpty();
    }

    @Test
    void addressOfTheNewLeaderReplacesTheOldOne() {
        tell(Optional.of(FIRST));
        assertThat(find()).contains(FIRST);

        tell(Optional.of(SECOND));

        assertThat(find()).contains(SECOND);
        assertThat(transport.log())
                .as("the lock is left alone")
                .noneMatch(call -> call.endsWith("/kube-controller-manager"));
    }

    @Test
    void leaderWithoutPagesRemovesTheOldAddress() {
        tell(Optional.of(FIRST));

        tell(Optional.empty());

        assertThat(find()).isEmpty();
    }

    @Test
    void controllerWithoutPagesCreatesNoLease() {
        tell(Optional.empty());

        assertThat(lease).isEmpty();
        assertThat(transport.calls()).hasSize(1);
    }

    @Test
    void addressIsPublishedLaterIfTheServerIsDown() {
        down = true;
        tell(Optional.of(FIRST));
        time.advance(Duration.ofSeconds(25));
        down = false;
        time.advance(Duration.ofSeconds(10));

        assertThat(find()).contains(FIRST);
    }

    private void tell(Optional<URI> url) {
        loop.execute(() -> DebugAddress.publish(client, url));
        time.advance(Duration.ofMillis(1));
    }

    private Optional<URI> find() {
        CompletableFuture<Optional<URI>> found = DebugAddress.find(client);
        time.advance(Duration.ofMillis(1));
        return found.join();
    }

    private Reply serve(Call call) {
        if (down) {
            return FakeTransport.refusal(new ApiException(500, "InternalError", "etcd is away"));
        }
        if (call.method().equals("POST")) {
            lease = Optional.of(Json.parseObject(call.body()));
        } else if (lease.isEmpty()) {
            return FakeTransport.refusal(ApiException.notFound(ResourceType.LEASES, DebugAddress.NAME));
        } else if (call.method().equals("PATCH")) {
            lease = lease.map(stored -> (JsonObject) MergePatch.apply(stored, Json.parseObject(call.body())));
        }
        return FakeTransport.reply(200, lease.orElseThrow());
    }
}
