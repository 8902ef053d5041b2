package io.nodekeeper.cri.devices;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.cri.FailingChannel;
import io.nodekeeper.cri.StubDevicePlugin;
import io.nodekeeper.cri.Until;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Registrations at a node that cannot accept connections for a while. */
class RegistrationServerTest {
    @TempDir
    Path directory;

    private FailingChannel channel;
    private StubDevicePlugin plugin;
    private RegistrationServer server;

    @BeforeEach
    void start() throws IOException {
        Path path = directory.resolve("kubelet.sock");
        plugin = new StubDevicePlugin(directory, "gpu.sock", "example.com/gpu", List.of("gpu-0"));
        channel = FailingChannel.at(path);
        channel.fail(Integer.MAX_VALUE);
        server = new RegistrationServer(path, channel, request -> CompletableFuture.completedFuture(null));
    }

    @AfterEach
    void stop() throws Exception {
        server.close();
        plugin.close();
    }

    @Test
    void pluginsRegisterAgainOnceConnectionsCanBeAccepted() throws Exception {
        // given a server that has never accepted a connection
        Until.holds("a failure", () -> server.failure().isPresent());
        assertThat(server.failure()).contains("Too many open files");

        // when it can
        channel.fail(0);
        plugin.register();

        // then it works
        assertThat(server.failure()).isEmpty();

        // when the same happens while gRPC accepts; one connection may be accepted before
        channel.fail(Integer.MAX_VALUE);
        CompletableFuture<Void> registered = CompletableFuture.runAsync(() -> plugin.register());
        Until.holds("another failure", () -> server.failure().isPresent());
        channel.fail(0);
        Until.done(registered);
        plugin.register();

        // then it works, too
        assertThat(server.failure()).isEmpty();
    }
}
