package io.nodekeeper.it;

import io.grpc.HandlerRegistry;
import io.grpc.MethodDescriptor;
import io.grpc.ServerMethodDefinition;
import io.grpc.Status;
import io.grpc.stub.ServerCalls;
import io.grpc.stub.StreamObserver;
import io.nodekeeper.cri.UnixServer;
import io.nodekeeper.cri.plugin.csi.NodeGetCapabilitiesResponse;
import io.nodekeeper.cri.plugin.csi.NodeGetInfoResponse;
import io.nodekeeper.cri.plugin.csi.NodeGrpc;
import io.nodekeeper.cri.plugin.csi.NodePublishVolumeResponse;
import io.nodekeeper.cri.plugin.csi.NodeServiceCapability;
import io.nodekeeper.cri.plugin.csi.NodeStageVolumeResponse;
import io.nodekeeper.cri.plugin.csi.NodeUnpublishVolumeResponse;
import io.nodekeeper.cri.plugin.csi.NodeUnstageVolumeResponse;
import io.nodekeeper.cri.plugin.csi.Topology;
import io.nodekeeper.cri.plugin.registration.PluginInfo;
import io.nodekeeper.cri.plugin.registration.RegistrationGrpc;
import io.nodekeeper.cri.plugin.registration.RegistrationStatusResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;

/**
 * A CSI driver as a process of its own: its volumes are directories, which it binds to where the node wants them. It writes each
 * call to a file, and does not answer the publishing of volumes for which there is a file {@code hang-HANDLE}.
 */
final class CsiDriverMain {
    private final String name;
    private final Path directory;
    private final Map<String, ServerMethodDefinition<?, ?>> methods = new HashMap<>();

    private CsiDriverMain(String name, Path directory) {
        this.name = name;
        this.directory = directory;
    }

    /** Arguments: the driver's name, its socket, and the directory of its volumes. Runs until it is killed. */
    public static void main(String[] arguments) throws Exception {
        CsiDriverMain driver = new CsiDriverMain(arguments[0], Path.of(arguments[2]));
        driver.registration();
        driver.node();
        Path socket = Path.of(arguments[1]);
        Files.deleteIfExists(socket);
        UnixServer server = new UnixServer(socket, driver.new Methods());
        new CountDownLatch(1).await();
        server.close();
    }

    private void registration() {
        on(
                RegistrationGrpc.getGetInfoMethod(),
                request -> PluginInfo.newBuilder()
                        .setType("CSIPlugin")
                        .setName(name)
                        .addSupportedVersions("1.0.0")
                        .build());
        on(RegistrationGrpc.getNotifyRegistrationStatusMethod(), request -> {
            note("registered " + request.getPluginRegistered() + " " + request.getError());
            return RegistrationStatusResponse.getDefaultInstance();
        });
    }

    private void node() {
        on(
                NodeGrpc.getNodeGetInfoMethod(),
                request -> NodeGetInfoResponse.newBuilder()
                        .setNodeId("machine-7")
                        .setMaxVolumesPerNode(5)
                        .setAccessibleTopology(Topology.newBuilder().putSegments("example.com/rack", "r1"))
                        .build());
        on(
                NodeGrpc.getNodeGetCapabilitiesMethod(),
                request -> NodeGetCapabilitiesResponse.newBuilder()
                        .addCapabilities(NodeServiceCapability.newBuilder()
                                .setRpc(NodeServiceCapability.RPC
                                        .newBuilder()
                                        .setType(NodeServiceCapability.RPC.Type.STAGE_UNSTAGE_VOLUME)))
                        .build());
        on(NodeGrpc.getNodeStageVolumeMethod(), request -> {
            note("stage " + request.getVolumeId() + " " + request.getSecretsMap() + " "
                    + request.getPublishContextMap());
            Path volume = Files.createDirectories(directory.resolve("volumes").resolve(request.getVolumeId()));
            bind(volume, Path.of(request.getStagingTargetPath()));
            return NodeStageVolumeResponse.getDefaultInstance();
        });
        on(NodeGrpc.getNodeUnstageVolumeMethod(), request -> {
            note("unstage " + request.getVolumeId());
            unbind(Path.of(request.getStagingTargetPath()));
            return NodeUnstageVolumeResponse.getDefaultInstance();
        });
        on(NodeGrpc.getNodePublishVolumeMethod(), request -> {
            note("publish " + request.getVolumeId());
            if (Files.exists(directory.resolve("hang-" + request.getVolumeId()))) {
                return null;
            }
            bind(Path.of(request.getStagingTargetPath()), Files.createDirectories(Path.of(request.getTargetPath())));
            return NodePublishVolumeResponse.getDefaultInstance();
        });
        on(NodeGrpc.getNodeUnpublishVolumeMethod(), request -> {
            note("unpublish " + request.getVolumeId());
            unbind(Path.of(request.getTargetPath()));
            Files.deleteIfExists(Path.of(request.getTargetPath()));
            return NodeUnpublishVolumeResponse.getDefaultInstance();
        });
    }

    private static void bind(Path source, Path target) throws Exception {
        if (!isMounted(target)) {
            Command.ok("mount", "--bind", source.toString(), target.toString());
        }
    }

    private static void unbind(Path target) throws Exception {
        if (isMounted(target)) {
            Command.ok("umount", target.toString());
        }
    }

    private static boolean isMounted(Path target) throws Exception {
        return Files.readString(Path.of("/proc/self/mountinfo")).contains(" " + target + " ");
    }

    private synchronized void note(String call) throws Exception {
        Files.writeString(
                directory.resolve("calls"), call + "\n", StandardOpenOption.CREATE, StandardOpenOption.APPEND);
    }

    /** The answer to a request; none if it is not answered. */
    private interface Answer<Q, A> {
        @Nullable
        A to(Q request) throws Exception;
    }

    private <Q, A> void on(MethodDescriptor<Q, A> method, Answer<Q, A> answer) {
        methods.put(
                method.getFullMethodName(),
                ServerMethodDefinition.create(
                        method, ServerCalls.asyncUnaryCall((Q request, StreamObserver<A> reply) -> {
                            try {
                                A made = answer.to(request);
                                if (made != null) {
                                    reply.onNext(made);
                                    reply.onCompleted();
                                }
                            } catch (Exception | AssertionError e) {
                                reply.onError(Status.INTERNAL
                                        .withDescription(String.valueOf(e.getMessage()))
                                        .asRuntimeException());
                            }
                        })));
    }

    private final class Methods extends HandlerRegistry {
        @Override
        public @Nullable ServerMethodDefinition<?, ?> lookupMethod(String method, @Nullable String authority) {
            return methods.get(method);
        }
    }
}
