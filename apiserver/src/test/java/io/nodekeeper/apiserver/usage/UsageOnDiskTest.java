package io.nodekeeper.apiserver.usage;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.apiserver.ApiServer;
import io.nodekeeper.apiserver.authentication.Authenticator;
import io.nodekeeper.apiserver.testing.ChangedStore;
import io.nodekeeper.apiserver.testing.SlowValues;
import io.nodekeeper.apiserver.testing.TestServer;
import io.nodekeeper.store.Entry;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** {@code metrics.k8s.io} if nodes are on disk, which I/O threads must not wait for. */
class UsageOnDiskTest {
    private final SlowValues disk = new SlowValues("/registry/minions/");
    private final TestServer server = new TestServer(disk);
    private final Queue<Runnable> readers = new ArrayDeque<>();
    private final List<String> asked = new ArrayList<>();

    @Test
    void nodeOfAPodIsReadByAnotherThread() {
        // given a pod that runs on a node
        ApiServer threaded = server.another(
                ChangedStore.of(
                        server.store,
                        Map.of(
                                "load",
                                arguments ->
                                        CompletableFuture.supplyAsync(((Entry) arguments[0])::loaded, readers::add))),
                new Authenticator(Map.of()),
                Runnable::run);
        threaded.readNodes((call, most) -> {
            asked.add(call.host());
            return new CompletableFuture<>();
        });
        server.node("n1");
        server.patch(
                TestServer.MERGE,
                "/api/v1/nodes/n1/status",
                "{\"status\":{\"addresses\":[{\"type\":\"InternalIP\",\"address\":\"10.0.0.1\"}]}}");
        server.post("/api/v1/namespaces/default/pods", TestServer.pod("p", "n1"));
        server.patch(
                TestServer.MERGE, "/api/v1/namespaces/default/pods/p/status", "{\"status\":{\"phase\":\"Running\"}}");
        int before = disk.reads();

        // when a client asks for its usage
        threaded.handle(TestServer.request(
                TestServer.ADMIN,
                "GET",
                "/apis/metrics.k8s.io/v1beta1/namespaces/default/pods/p",
                Map.of(),
                new byte[0]));
        server.settle();

        // then its thread reads no disk
        assertThat(disk.reads()).isEqualTo(before);
        assertThat(asked).isEmpty();
        // and the node is asked when it is read
        readers.remove().run();
        server.settle();
        assertThat(disk.reads()).isEqualTo(before + 1);
        assertThat(asked).containsExactly("10.0.0.1");
    }
}
