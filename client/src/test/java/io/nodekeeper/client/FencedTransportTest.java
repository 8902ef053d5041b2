package io.nodekeeper.client;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.api.ResourceType;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.client.leaderelection.LeaderElectionConfig;
import io.nodekeeper.client.leaderelection.LeaderElector;
import io.nodekeeper.client.leaderelection.LeaseStore;
import io.nodekeeper.time.Randoms;
import io.nodekeeper.time.VirtualTime;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Writes that a deposed leader must not send after a freeze. */
class FencedTransportTest {
    private final VirtualTime time = new VirtualTime(Instant.parse("2026-01-01T00:00:00Z"));
    private final VirtualTime.VirtualLoop loop = time.loop("leader");
    private final LeaseStore store = new LeaseStore();
    private final FakeTransport lockServer = new FakeTransport();
    private final FakeTransport server = new FakeTransport();
    private final LeaderElector elector = new LeaderElector(
            LeaderElectionConfig.defaults(),
            "a",
            new KubeClient(lockServer, loop, Duration.ofSeconds(5)),
            (about, type, reason, message) -> {},
            Randoms.seeded(1),
            new LeaderElector.Callbacks() {
                @Override
                public void started() {}

                @Override
                public void stopped(boolean lost) {}
            });
    private final KubeClient client =
            new KubeClient(new FencedTransport(server, elector::leads, 64), loop, Duration.ofMinutes(10));

    FencedTransportTest() {
        lockServer.answer(store::tryAnswer);
        server.answer(call -> Optional.of(FakeTransport.reply(200, JsonObject.EMPTY)));
    }

    @Test
    void onlyALeaderWritesAndAllCandidatesRead() {
        write(1);
        client.get(ResourceType.NODES, "", "n1");
        client.watch(ResourceType.NODES, "", "", new Ignoring());
        time.advance(Duration.ofMillis(1));
        assertThat(server.log()).containsExactly("GET /api/v1/nodes/n1");
        assertThat(server.watches()).hasSize(1);
        server.clear();

        elector.start();
        time.advance(Duration.ofSeconds(1));
        CompletableFuture<JsonObject> written = write(2);
        time.advance(Duration.ofMillis(1));

        assertThat(written).isCompleted();
        assertThat(server.log()).containsExactly("PATCH /api/v1/nodes/n2");
    }

    @Test
    @Tag("L77")
    void whatWaitedWhileTheLeaderWasFrozenIsNotSentAfterwards() {
        elector.start();
        time.advance(Duration.ofSeconds(1));
        // 64 calls hang, and 36 wait for their turn.
        server.answer(call -> Optional.empty());
        List<CompletableFuture<JsonObject>> writes = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            writes.add(write(i));
        }
        assertThat(server.log()).hasSize(64);

        loop.freeze();
        time.advance(Duration.ofSeconds(60));
        loop.thaw();
        writes.subList(0, 64).forEach(write -> write.cancel(true));
        server.clear();
        time.advance(Duration.ofMinutes(11));

        assertThat(server.log()).isEmpty();
        assertThat(writes.get(99)).isCompletedExceptionally();
        assertThat(writes.get(99).exceptionNow())
                .isInstanceOf(TransportException.class)
                .hasMessage("PATCH /api/v1/nodes/n99: not sent, because this process is not the leader");
    }

    private CompletableFuture<JsonObject> write(int node) {
        return client.patch(ResourceType.NODES, "", "n" + node, "", PatchType.MERGE, JsonObject.EMPTY);
    }

    private static final class Ignoring implements Transport.StreamHandler {
        @Override
        public void onOpen() {}

        @Override
        public void onLine(byte[] line) {}

        @Override
        public void onEnd(Optional<Reply> refusal, Optional<TransportException> why) {}
    }
}
