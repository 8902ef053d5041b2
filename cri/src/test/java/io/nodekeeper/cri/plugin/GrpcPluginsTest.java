package io.nodekeeper.cri.plugin;

import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.BindableService;
import io.grpc.Status;
import io.grpc.stub.StreamObserver;
import io.grpc.util.MutableHandlerRegistry;
import io.nodekeeper.cri.UnixServer;
import io.nodekeeper.cri.plugin.csi.NodeGetCapabilitiesRequest;
import io.nodekeeper.cri.plugin.csi.NodeGetCapabilitiesResponse;
import io.nodekeeper.cri.plugin.csi.NodeGrpc;
import io.nodekeeper.cri.plugin.csi.NodePublishVolumeRequest;
import io.nodekeeper.cri.plugin.csi.NodePublishVolumeResponse;
import io.nodekeeper.cri.plugin.csi.NodeServiceCapability;
import io.nodekeeper.cri.plugin.csi.NodeStageVolumeRequest;
import io.nodekeeper.cri.plugin.csi.NodeStageVolumeResponse;
import io.nodekeeper.cri.plugin.csi.VolumeCapability;
import io.nodekeeper.cri.plugin.registration.InfoRequest;
import io.nodekeeper.cri.plugin.registration.PluginInfo;
import io.nodekeeper.cri.plugin.registration.RegistrationGrpc;
import io.nodekeeper.time.ThreadLoop;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Calls to plugins on real sockets. */
class GrpcPluginsTest {
    private static final Duration LONG = Duration.ofSeconds(20);
    private static final PluginCall.Volume VOLUME = new PluginCall.Volume(
            "h",
            "/stage",
            "ext4",
            List.of("noatime"),
            "2000",
            PluginCall.Access.SINGLE_NODE_WRITER,
            Map.of("device", "x"),
            Map.of("key", "open"),
            Map.of("a", "b"));

    @TempDir
    Path directory;

    private final ThreadLoop loop = new ThreadLoop("test");
    private final GrpcPlugins plugins = new GrpcPlugins(loop);

    @AfterEach
    void close() {
        loop.execute(plugins::close);
        loop.close();
    }

    /** A driver that stages nothing, publishes everything, and whose capabilities never come. */
    private static final class Driver extends NodeGrpc.NodeImplBase {
        private final CompletableFuture<NodePublishVolumeRequest> published = new CompletableFuture<>();
        private final boolean hangs;

        private Driver(boolean hangs) {
            this.hangs = hangs;
        }

        @Override
        public void nodeGetCapabilities(
                NodeGetCapabilitiesRequest request, StreamObserver<NodeGetCapabilitiesResponse> reply) {
            if (!hangs) {
                reply.onNext(NodeGetCapabilitiesResponse.newBuilder()
                        .addCapabilities(capability(NodeServiceCapability.RPC.Type.STAGE_UNSTAGE_VOLUME))
                        .addCapabilities(capability(NodeServiceCapability.RPC.Type.EXPAND_VOLUME))
                        .build());
                reply.onCompleted();
            }
        }

        private static NodeServiceCapability capability(NodeServiceCapability.RPC.Type type) {
            return NodeServiceCapability.newBuilder()
                    .setRpc(NodeServiceCapability.RPC.newBuilder().setType(type))
                    .build();
        }

        @Override
        public void nodeStageVolume(NodeStageVolumeRequest request, StreamObserver<NodeStageVolumeResponse> reply) {
            reply.onError(Status.FAILED_PRECONDITION
                    .withDescription("no device for " + request.getVolumeId())
                    .asRuntimeException());
        }

        @Override
        public void nodePublishVolume(
                NodePublishVolumeRequest request, StreamObserver<NodePublishVolumeResponse> reply) {
            published.complete(request);
            reply.onNext(NodePublishVolumeResponse.getDefaultInstance());
            reply.onCompleted();
        }
    }

    @Test
    void aPluginSaysWhoItIs() throws Exception {
        RegistrationGrpc.RegistrationImplBase registration = new RegistrationGrpc.RegistrationImplBase() {
            @Override
            public void getInfo(InfoRequest request, StreamObserver<PluginInfo> reply) {
                reply.onNext(PluginInfo.newBuilder()
                        .setType("CSIPlugin")
                        .setName("d")
                        .addSupportedVersions("1.0.0")
                        .build());
                reply.onCompleted();
            }
        };
        try (UnixServer server = server("a.sock", registration)) {
            assertThat(call("a.sock", new PluginCall.GetInfo(), LONG))
                    .isEqualTo(new PluginCall.Identity("CSIPlugin", "d", "", List.of("1.0.0")));
        }
    }

    @Test
    void aDriverGetsTheVolumeAndSaysWhatItCan() throws Exception {
        Driver driver = new Driver(false);
        try (UnixServer server = server("a.sock", driver)) {
            assertThat(call("a.sock", new PluginCall.NodeGetCapabilities(), LONG))
                    .isEqualTo(Set.of(PluginCall.Capability.STAGE_UNSTAGE_VOLUME));
            call("a.sock", new PluginCall.NodePublishVolume(VOLUME, "/target", true), LONG);
        }
        NodePublishVolumeRequest request = driver.published.join();
        assertThat(request.getVolumeId()).isEqualTo("h");
        assertThat(request.getStagingTargetPath()).isEqualTo("/stage");
        assertThat(request.getTargetPath()).isEqualTo("/target");
        assertThat(request.getReadonly()).isTrue();
        assertThat(request.getSecretsMap()).isEqualTo(Map.of("key", "open"));
        assertThat(request.getPublishContextMap()).isEqualTo(Map.of("device", "x"));
        assertThat(request.getVolumeContextMap()).isEqualTo(Map.of("a", "b"));
        assertThat(request.getVolumeCapability().getMount().getFsType()).isEqualTo("ext4");
        assertThat(request.getVolumeCapability().getMount().getVolumeMountGroup())
                .isEqualTo("2000");
        assertThat(request.getVolumeCapability().getAccessMode().getMode())
                .isEqualTo(VolumeCapability.AccessMode.Mode.SINGLE_NODE_WRITER);
    }

    @Test
    void errorsReadAsInAKubeletsEvents() throws Exception {
        try (UnixServer server = server("a.sock", new Driver(false))) {
            assertThat(failure("a.sock", new PluginCall.NodeStageVolume(VOLUME), LONG))
                    .hasMessage("rpc error: code = FailedPrecondition desc = no device for h");
        }
        PluginCallException missing = failure("b.sock", new PluginCall.GetInfo(), LONG);
        assertThat(missing.code()).isEqualTo("Unavailable");
        assertThat(missing).hasMessageContaining(directory.resolve("b.sock").toString());
    }

    @Test
    void aPluginThatHangsDelaysNoOther() throws Exception {
        try (UnixServer hung = server("a.sock", new Driver(true));
                UnixServer well = server("b.sock", new Driver(false))) {
            List<CompletableFuture<?>> calls = IntStream.range(0, GrpcPlugins.MOST + 1)
                    .<CompletableFuture<?>>mapToObj(
                            i -> begin("a.sock", new PluginCall.NodeGetCapabilities(), Duration.ofSeconds(10)))
                    .toList();

            call("b.sock", new PluginCall.NodeGetCapabilities(), LONG);

            assertThat(calls).noneMatch(CompletableFuture::isDone);
            for (CompletableFuture<?> call : calls) {
                assertThat(ended(call))
                        .hasMessage("rpc error: code = DeadlineExceeded desc = context deadline exceeded");
            }
        }
    }

    private UnixServer server(String name, BindableService service) throws Exception {
        MutableHandlerRegistry services = new MutableHandlerRegistry();
        services.addService(service);
        return new UnixServer(directory.resolve(name), services);
    }

    private <T> CompletableFuture<T> begin(String socket, PluginCall<T> call, Duration deadline) {
        CompletableFuture<T> result = new CompletableFuture<>();
        loop.execute(() -> plugins.call(directory.resolve(socket), call, deadline)
                .whenComplete((value, error) -> {
                    if (error == null) {
                        result.complete(value);
                    } else {
                        result.completeExceptionally(error);
                    }
                }));
        return result;
    }

    private <T> T call(String socket, PluginCall<T> call, Duration deadline) throws Exception {
        return begin(socket, call, deadline).get(60, TimeUnit.SECONDS);
    }

    private PluginCallException failure(String socket, PluginCall<?> call, Duration deadline) throws Exception {
        return ended(begin(socket, call, deadline));
    }

    private static PluginCallException ended(CompletableFuture<?> call) throws Exception {
        try {
            call.get(60, TimeUnit.SECONDS);
        } catch (ExecutionException e) {
            Throwable cause = e;
            while (cause != null && !(cause instanceof PluginCallException)) {
                cause = cause.getCause();
            }
            return Objects.requireNonNull((PluginCallException) cause, "not an error of a plugin: " + e);
        }
        throw new AssertionError("the call succeeded");
    }
}
