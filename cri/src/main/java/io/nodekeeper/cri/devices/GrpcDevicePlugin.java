package io.nodekeeper.cri.devices;

import io.grpc.CallOptions;
import io.grpc.ClientCall;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import io.nodekeeper.cri.devices.v1beta1.AllocateRequest;
import io.nodekeeper.cri.devices.v1beta1.AllocateResponse;
import io.nodekeeper.cri.devices.v1beta1.ContainerAllocateRequest;
import io.nodekeeper.cri.devices.v1beta1.ContainerPreferredAllocationRequest;
import io.nodekeeper.cri.devices.v1beta1.Device;
import io.nodekeeper.cri.devices.v1beta1.DevicePluginGrpc;
import io.nodekeeper.cri.devices.v1beta1.Empty;
import io.nodekeeper.cri.devices.v1beta1.ListAndWatchResponse;
import io.nodekeeper.cri.devices.v1beta1.NUMANode;
import io.nodekeeper.cri.devices.v1beta1.PreStartContainerRequest;
import io.nodekeeper.cri.devices.v1beta1.PreferredAllocationRequest;
import io.nodekeeper.cri.grpc.UnaryCall;
import io.nodekeeper.cri.socket.UnixChannel;
import io.nodekeeper.time.DeadlineExceededException;
import io.nodekeeper.time.Deadlines;
import io.nodekeeper.time.Loop;
import io.nodekeeper.time.ThreadPool;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * A plugin behind a unix socket, over gRPC. It has a connection and threads of its own, so a plugin that stops reading blocks no
 * other one. Results complete on its loop.
 */
public final class GrpcDevicePlugin implements DevicePlugin {
    /** The kubelet's time for connecting to a plugin. */
    static final Duration CONNECT = Duration.ofSeconds(10);
    /** The kubelet's time for PreStartContainer, used for allocations, too, for which a kubelet has no limit. */
    static final Duration CALL = Duration.ofSeconds(30);

    /** gRPC's own default in Go, which kubelets use for plugins. */
    private static final int MAX_MESSAGE = 4 << 20;
    /** One reads, one writes, one connects. They end when they are idle. */
    private static final int THREADS = 3;

    private final Path socket;
    private final ThreadPool pool = new ThreadPool("device-plugin", THREADS);
    private final UnixChannel channel;
    private final Loop loop;

    /**
     * A client for the plugin at {@code socket}; it connects with the first call.
     *
     * @param timer for gRPC's own deadlines; several plugins may share it
     */
    public GrpcDevicePlugin(Path socket, Loop loop, ScheduledExecutorService timer) {
        this.socket = socket;
        this.loop = loop;
        channel = new UnixChannel(socket, MAX_MESSAGE, pool, timer);
    }

    @Override
    public CompletableFuture<PluginOptions> options() {
        return call(
                "GetDevicePluginOptions",
                DevicePluginGrpc.getGetDevicePluginOptionsMethod(),
                Empty.getDefaultInstance(),
                CONNECT,
                answer -> new PluginOptions(answer.getPreStartRequired(), answer.getGetPreferredAllocationAvailable()));
    }

    @Override
    public CompletableFuture<List<String>> preferred(List<String> available, List<String> included, int count) {
        return call(
                "GetPreferredAllocation",
                DevicePluginGrpc.getGetPreferredAllocationMethod(),
                PreferredAllocationRequest.newBuilder()
                        .addContainerRequests(ContainerPreferredAllocationRequest.newBuilder()
                                .addAllAvailableDeviceIds(available)
                                .addAllMustIncludeDeviceIds(included)
                                .setAllocationSize(count))
                        .build(),
                CALL,
                answer -> answer.getContainerResponsesCount() == 0
                        ? List.of()
                        : List.copyOf(answer.getContainerResponses(0).getDeviceIdsList()));
    }

    @Override
    public CompletableFuture<DeviceGrant> allocate(List<String> ids) {
        return call(
                "Allocate",
                DevicePluginGrpc.getAllocateMethod(),
                AllocateRequest.newBuilder()
                        .addContainerRequests(
                                ContainerAllocateRequest.newBuilder().addAllDevicesIds(ids))
                        .build(),
                CALL,
                GrpcDevicePlugin::grant);
    }

    private static DeviceGrant grant(AllocateResponse answer) {
        if (answer.getContainerResponsesCount() == 0) {
            throw new PluginCallException("no containers return in allocation response of the device plugin");
        }
        return new DeviceGrant(answer.getContainerResponses(0));
    }

    @Override
    public CompletableFuture<Void> preStart(List<String> ids) {
        return call(
                        "PreStartContainer",
                        DevicePluginGrpc.getPreStartContainerMethod(),
                        PreStartContainerRequest.newBuilder()
                                .addAllDevicesIds(ids)
                                .build(),
                        CALL,
                        Function.identity())
                .thenAccept(done -> {});
    }

    @Override
    public CompletableFuture<Void> watch(Consumer<List<PluginDevice>> devices) {
        CompletableFuture<Void> ended = new CompletableFuture<>();
        ClientCall<Empty, ListAndWatchResponse> call =
                channel.grpc().newCall(DevicePluginGrpc.getListAndWatchMethod(), CallOptions.DEFAULT);
        call.start(
                new ClientCall.Listener<>() {
                    @Override
                    public void onMessage(ListAndWatchResponse message) {
                        List<PluginDevice> list = devices(message);
                        loop.execute(() -> {
                            try {
                                devices.accept(list);
                            } finally {
                                // The next message is read once this one has been processed.
                                call.request(1);
                            }
                        });
                    }

                    @Override
                    public void onClose(Status status, Metadata trailers) {
                        loop.execute(() -> {
                            if (status.isOk()) {
                                ended.complete(null);
                            } else {
                                ended.completeExceptionally(PluginCallException.of(status));
                            }
                        });
                    }
                },
                new Metadata());
        call.request(1);
        call.sendMessage(Empty.getDefaultInstance());
        call.halfClose();
        return ended;
    }

    /** Of devices with the same id the last one counts, as in a kubelet. */
    private static List<PluginDevice> devices(ListAndWatchResponse message) {
        Map<String, PluginDevice> devices = new LinkedHashMap<>();
        for (Device device : message.getDevicesList()) {
            devices.put(
                    device.getId(),
                    new PluginDevice(
                            device.getId(),
                            device.getHealth().equals(PluginDevice.HEALTHY),
                            device.getTopology().getNodesList().stream()
                                    .map(NUMANode::getId)
                                    .collect(Collectors.toSet())));
        }
        return List.copyOf(devices.values());
    }

    private <Q, A, T> CompletableFuture<T> call(
            String name, MethodDescriptor<Q, A> method, Q request, Duration deadline, Function<A, T> read) {
        CompletableFuture<T> answer = new CompletableFuture<>();
        // gRPC enforces the deadline; the loop does, too, in case gRPC is stuck.
        CompletableFuture<T> result = Deadlines.within(loop, deadline.plusSeconds(1), name, answer);
        ClientCall<Q, A> call = UnaryCall.send(
                channel.grpc(),
                method,
                CallOptions.DEFAULT.withWaitForReady().withDeadlineAfter(deadline.toNanos(), TimeUnit.NANOSECONDS),
                request,
                (status, message) -> loop.execute(() -> settle(status, message, read, answer)));
        return result.exceptionallyCompose(error -> {
            call.cancel("the caller cancelled the call", null);
            return CompletableFuture.failedFuture(
                    error instanceof DeadlineExceededException late
                            ? new PluginCallException(String.valueOf(late.getMessage()))
                            : error);
        });
    }

    private static <A, T> void settle(
            Status status, Optional<A> message, Function<A, T> read, CompletableFuture<T> answer) {
        if (!status.isOk()) {
            answer.completeExceptionally(PluginCallException.of(status));
        } else if (message.isEmpty()) {
            answer.completeExceptionally(new PluginCallException("the device plugin sent an empty answer"));
        } else {
            try {
                answer.complete(read.apply(message.get()));
            } catch (PluginCallException e) {
                answer.completeExceptionally(e);
            }
        }
    }

    @Override
    public void close() {
        channel.close("the connection to " + socket + " is closed");
        pool.close();
    }
}
