package io.nodekeeper.cri;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.grpc.StatusRuntimeException;
import io.nodekeeper.cri.config.ContainerConfig;
import io.nodekeeper.cri.devices.DeviceGrant;
import io.nodekeeper.cri.devices.GrpcDevicePlugin;
import io.nodekeeper.cri.devices.PluginCallException;
import io.nodekeeper.cri.devices.PluginDevice;
import io.nodekeeper.cri.devices.PluginOptions;
import io.nodekeeper.cri.devices.PluginRegistration;
import io.nodekeeper.cri.devices.RegistrationServer;
import io.nodekeeper.time.ThreadLoop;
import io.nodekeeper.time.TimerThread;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ScheduledExecutorService;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Calls to a device plugin, and its registration, over real sockets. */
class DevicePluginTest {
    @TempDir
    Path directory;

    private final ThreadLoop loop = new ThreadLoop("test");
    private final ScheduledExecutorService timer = TimerThread.named("test-timer");
    private StubDevicePlugin stub;
    private GrpcDevicePlugin plugin;

    @BeforeEach
    void start() throws IOException {
        stub = new StubDevicePlugin(directory, "gpu.sock", "example.com/gpu", List.of("gpu-0", "gpu-1", "broken"));
        plugin = new GrpcDevicePlugin(directory.resolve("gpu.sock"), loop, timer);
    }

    @AfterEach
    void stop() throws Exception {
        plugin.close();
        stub.close();
        loop.close();
        timer.shutdownNow();
    }

    @Test
    void aPluginSaysWhatItWantsToBeAsked() throws Exception {
        assertThat(Until.done(plugin.options())).isEqualTo(PluginOptions.NONE);

        stub.options(true, false);

        assertThat(Until.done(plugin.options())).isEqualTo(new PluginOptions(true, false));
    }

    @Test
    void eachListReplacesTheDevices() throws Exception {
        List<List<PluginDevice>> lists = new CopyOnWriteArrayList<>();
        plugin.watch(lists::add);
        Until.holds("a list", () -> lists.size() == 1);

        stub.health("gpu-1", "Unhealthy");

        Until.holds("another list", () -> lists.size() == 2);
        assertThat(lists.get(0)).containsExactly(device("broken", true), device("gpu-0", true), device("gpu-1", true));
        assertThat(lists.get(1)).containsExactly(device("broken", true), device("gpu-0", true), device("gpu-1", false));
    }

    @Test
    void theListEndsWithThePlugin() throws Exception {
        List<List<PluginDevice>> lists = new CopyOnWriteArrayList<>();
        CompletableFuture<Void> end = plugin.watch(lists::add);
        Until.holds("a list", () -> lists.size() == 1);

        stub.kill();

        assertThat(Until.failed(end)).hasMessageStartingWith("rpc error: code = Unavailable desc = ");
    }

    @Test
    void devicesComeWithAllThatTheirContainerNeeds() throws Exception {
        DeviceGrant grant = Until.done(plugin.allocate(List.of("gpu-0", "gpu-1")));

        assertThat(grant.environment()).isEqualTo(Map.of("STUB_DEVICES", "gpu-0,gpu-1"));
        assertThat(grant.annotations()).isEqualTo(Map.of("stub.example.com/devices", "gpu-0,gpu-1"));
        assertThat(grant.mounts())
                .containsExactly(new ContainerConfig.Mount(
                        "/stub", directory.toString(), true, ContainerConfig.Propagation.PRIVATE));
        assertThat(grant.devices())
                .containsExactly(
                        new ContainerConfig.Device("/dev/gpu-0", "/dev/null", "rw"),
                        new ContainerConfig.Device("/dev/gpu-1", "/dev/null", "rw"));
        assertThat(grant.cdiDevices()).containsExactly("example.com/stub=all");
        assertThat(DeviceGrant.parse(grant.bytes()).environment()).isEqualTo(grant.environment());
    }

    @Test
    void theOtherQuestionsReachThePlugin() throws Exception {
        assertThat(Until.done(plugin.preferred(List.of("a", "b", "c"), List.of("b"), 2)))
                .containsExactly("c", "b");
        Until.done(plugin.preStart(List.of("a", "b")));

        assertThat(stub.calls()).containsExactly("preferred [a, b, c] [b] 2", "preStart [a, b]");
    }

    @Test
    void anErrorHasTheFormOfKubernetes() throws Exception {
        assertThat(Until.failed(plugin.allocate(List.of("broken"))))
                .isInstanceOf(PluginCallException.class)
                .hasMessage("rpc error: code = Internal desc = it is broken");
    }

    @Test
    void aCallThatIsNotAnsweredFailsWhenThePluginIsGivenUp() throws Exception {
        stub.hang();
        CompletableFuture<DeviceGrant> call = plugin.allocate(List.of("gpu-0"));
        Until.holds("the call", () -> !stub.calls().isEmpty());

        plugin.close();

        assertThat(Until.failed(call)).isInstanceOf(PluginCallException.class);
    }

    @Test
    void pluginsRegisterAtTheSocketOfTheNode() throws Exception {
        List<PluginRegistration> requests = new ArrayList<>();
        try (RegistrationServer server = new RegistrationServer(directory.resolve("kubelet.sock"), request -> {
            requests.add(request);
            return request.version().equals("v1beta1")
                    ? CompletableFuture.completedFuture(null)
                    : CompletableFuture.failedFuture(new IllegalArgumentException("no " + request.version()));
        })) {
            stub.register();

            assertThatThrownBy(() -> stub.register("v1alpha"))
                    .isInstanceOf(StatusRuntimeException.class)
                    .hasMessage("UNKNOWN: no v1alpha");
            assertThat(requests)
                    .containsExactly(
                            new PluginRegistration("v1beta1", "gpu.sock", "example.com/gpu"),
                            new PluginRegistration("v1alpha", "gpu.sock", "example.com/gpu"));
            assertThat(server.failure()).isEmpty();
        }
    }

    @Test
    void connectionsThatSayNothingDoNotKeepPluginsFromRegistering() throws Exception {
        List<SocketChannel> silent = new ArrayList<>();
        try (RegistrationServer server = new RegistrationServer(
                directory.resolve("kubelet.sock"), request -> CompletableFuture.completedFuture(null))) {
            for (int i = 0; i < 20; i++) {
                SocketChannel channel = SocketChannel.open(StandardProtocolFamily.UNIX);
                channel.connect(UnixDomainSocketAddress.of(directory.resolve("kubelet.sock")));
                silent.add(channel);
            }

            stub.register();

            assertThat(server.failure()).isEmpty();
        } finally {
            for (SocketChannel channel : silent) {
                channel.close();
            }
        }
    }

    @Test
    void aSocketThatCannotBeMadeIsNamed() throws IOException {
        Path taken = Files.createFile(directory.resolve("kubelet.sock"));

        assertThatThrownBy(
                        () -> new RegistrationServer(taken, request -> CompletableFuture.completedFuture(null)).close())
                .isInstanceOf(IOException.class)
                .hasMessageStartingWith("the socket " + taken + " cannot be made: ");
    }

    private static PluginDevice device(String id, boolean healthy) {
        return new PluginDevice(id, healthy, Set.of(1L));
    }
}
