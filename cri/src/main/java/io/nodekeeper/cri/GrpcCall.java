package io.nodekeeper.cri;

import io.grpc.MethodDescriptor;
import io.nodekeeper.cri.config.ContainerConfig;
import io.nodekeeper.cri.config.SandboxConfig;
import io.nodekeeper.cri.v1.AttachRequest;
import io.nodekeeper.cri.v1.AttachResponse;
import io.nodekeeper.cri.v1.ContainerFilter;
import io.nodekeeper.cri.v1.ContainerStatsRequest;
import io.nodekeeper.cri.v1.ContainerStatusRequest;
import io.nodekeeper.cri.v1.CreateContainerRequest;
import io.nodekeeper.cri.v1.CreateContainerResponse;
import io.nodekeeper.cri.v1.ExecRequest;
import io.nodekeeper.cri.v1.ExecResponse;
import io.nodekeeper.cri.v1.ExecSyncRequest;
import io.nodekeeper.cri.v1.ImageFsInfoRequest;
import io.nodekeeper.cri.v1.ImageServiceGrpc;
import io.nodekeeper.cri.v1.ImageSpec;
import io.nodekeeper.cri.v1.ImageStatusRequest;
import io.nodekeeper.cri.v1.ListContainersRequest;
import io.nodekeeper.cri.v1.ListImagesRequest;
import io.nodekeeper.cri.v1.ListPodSandboxRequest;
import io.nodekeeper.cri.v1.NetworkConfig;
import io.nodekeeper.cri.v1.PodSandboxFilter;
import io.nodekeeper.cri.v1.PodSandboxStatusRequest;
import io.nodekeeper.cri.v1.PortForwardRequest;
import io.nodekeeper.cri.v1.PortForwardResponse;
import io.nodekeeper.cri.v1.PullImageResponse;
import io.nodekeeper.cri.v1.RemoveContainerRequest;
import io.nodekeeper.cri.v1.RemoveImageRequest;
import io.nodekeeper.cri.v1.RemovePodSandboxRequest;
import io.nodekeeper.cri.v1.ReopenContainerLogRequest;
import io.nodekeeper.cri.v1.RunPodSandboxRequest;
import io.nodekeeper.cri.v1.RunPodSandboxResponse;
import io.nodekeeper.cri.v1.RuntimeConfig;
import io.nodekeeper.cri.v1.RuntimeServiceGrpc;
import io.nodekeeper.cri.v1.StartContainerRequest;
import io.nodekeeper.cri.v1.StatusRequest;
import io.nodekeeper.cri.v1.StopContainerRequest;
import io.nodekeeper.cri.v1.StopPodSandboxRequest;
import io.nodekeeper.cri.v1.UpdateContainerResourcesRequest;
import io.nodekeeper.cri.v1.UpdateRuntimeConfigRequest;
import io.nodekeeper.cri.v1.VersionRequest;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/**
 * A call in gRPC's terms: the method, the request, and the conversion of the answer. Immutable.
 *
 * @param most the largest answer in bytes; a larger one ends the call
 * @param <Q> the request
 * @param <A> the answer as protobuf
 * @param <T> the answer as a value
 */
record GrpcCall<Q, A, T>(MethodDescriptor<Q, A> method, Q request, Function<A, T> read, int most) {
    /** The version of the kubelet's side of the interface, the only one that exists. Kubernetes default. */
    static final String API_VERSION = "0.1.0";
    /** Kubernetes' label for the pod of a sandbox or container. */
    static final String POD_UID = "io.kubernetes.pod.uid";

    /**
     * The most bytes of the status of one image. An image says what it likes about its user and may have any number of names, and
     * many pods may ask at the same moment; an image with a hundred names has some 30 KB.
     */
    static final int MOST_IMAGE = 256 << 10;

    private GrpcCall(MethodDescriptor<Q, A> method, Q request, Function<A, T> read) {
        this(method, request, read, Connection.MAX_MESSAGE);
    }

    /** The exchange for {@code call}. */
    @SuppressWarnings("unchecked") // Each case reads what its call asks for.
    static <T> GrpcCall<?, ?, T> of(RuntimeCall<T> call) {
        return (GrpcCall<?, ?, T>) untyped(call);
    }

    private static GrpcCall<?, ?, ?> untyped(RuntimeCall<?> call) {
        return switch (call) {
            case RuntimeCall.GetVersion version ->
                new GrpcCall<>(
                        RuntimeServiceGrpc.getVersionMethod(),
                        VersionRequest.newBuilder().setVersion(API_VERSION).build(),
                        RuntimeResponses::version);
            case RuntimeCall.GetStatus status ->
                new GrpcCall<>(
                        RuntimeServiceGrpc.getStatusMethod(),
                        StatusRequest.getDefaultInstance(),
                        RuntimeResponses::status);
            case RuntimeCall.ListSandboxes(Optional<String> podUid) ->
                new GrpcCall<>(
                        RuntimeServiceGrpc.getListPodSandboxMethod(), sandboxesOf(podUid), RuntimeResponses::sandboxes);
            case RuntimeCall.GetSandbox(String id) ->
                new GrpcCall<>(
                        RuntimeServiceGrpc.getPodSandboxStatusMethod(),
                        PodSandboxStatusRequest.newBuilder().setPodSandboxId(id).build(),
                        answer -> RuntimeResponses.sandbox(id, answer));
            case RuntimeCall.ListContainers(Optional<String> podUid) ->
                new GrpcCall<>(
                        RuntimeServiceGrpc.getListContainersMethod(),
                        containersOf(podUid),
                        RuntimeResponses::containers);
            case RuntimeCall.GetContainer(String id) ->
                new GrpcCall<>(
                        RuntimeServiceGrpc.getContainerStatusMethod(),
                        ContainerStatusRequest.newBuilder().setContainerId(id).build(),
                        answer -> RuntimeResponses.container(id, answer));
            case RuntimeCall.GetContainerStats(String id) ->
                new GrpcCall<>(
                        RuntimeServiceGrpc.getContainerStatsMethod(),
                        ContainerStatsRequest.newBuilder().setContainerId(id).build(),
                        answer -> RuntimeResponses.usage(id, answer));
            case RuntimeCall.SetPodCidr(String cidr) ->
                new GrpcCall<>(
                        RuntimeServiceGrpc.getUpdateRuntimeConfigMethod(),
                        UpdateRuntimeConfigRequest.newBuilder()
                                .setRuntimeConfig(RuntimeConfig.newBuilder()
                                        .setNetworkConfig(
                                                NetworkConfig.newBuilder().setPodCidr(cidr)))
                                .build(),
                        answer -> RuntimeCall.Done.DONE);
            case RuntimeCall.ListImages images ->
                new GrpcCall<>(
                        ImageServiceGrpc.getListImagesMethod(),
                        ListImagesRequest.getDefaultInstance(),
                        RuntimeResponses::images);
            case RuntimeCall.GetImage(String image) ->
                new GrpcCall<>(
                        ImageServiceGrpc.getImageStatusMethod(),
                        ImageStatusRequest.newBuilder()
                                .setImage(ImageSpec.newBuilder().setImage(image))
                                .build(),
                        RuntimeResponses::image,
                        MOST_IMAGE);
            case RuntimeCall.PullImage pull ->
                new GrpcCall<>(
                        ImageServiceGrpc.getPullImageMethod(),
                        RuntimeRequests.pull(pull),
                        PullImageResponse::getImageRef);
            case RuntimeCall.RemoveImage(String image) ->
                new GrpcCall<>(
                        ImageServiceGrpc.getRemoveImageMethod(),
                        RemoveImageRequest.newBuilder()
                                .setImage(ImageSpec.newBuilder().setImage(image))
                                .build(),
                        answer -> RuntimeCall.Done.DONE);
            case RuntimeCall.GetSandboxImage image ->
                new GrpcCall<>(
                        RuntimeServiceGrpc.getStatusMethod(),
                        StatusRequest.newBuilder().setVerbose(true).build(),
                        RuntimeResponses::sandboxImage);
            case RuntimeCall.GetImageFilesystems filesystems ->
                new GrpcCall<>(
                        ImageServiceGrpc.getImageFsInfoMethod(),
                        ImageFsInfoRequest.getDefaultInstance(),
                        RuntimeResponses::filesystems);
            case RuntimeCall.RunSandbox(SandboxConfig config, String handler) ->
                new GrpcCall<>(
                        RuntimeServiceGrpc.getRunPodSandboxMethod(),
                        RunPodSandboxRequest.newBuilder()
                                .setConfig(RuntimeRequests.sandbox(config))
                                .setRuntimeHandler(handler)
                                .build(),
                        RunPodSandboxResponse::getPodSandboxId);
            case RuntimeCall.StopSandbox(String id) ->
                new GrpcCall<>(
                        RuntimeServiceGrpc.getStopPodSandboxMethod(),
                        StopPodSandboxRequest.newBuilder().setPodSandboxId(id).build(),
                        answer -> RuntimeCall.Done.DONE);
            case RuntimeCall.RemoveSandbox(String id) ->
                new GrpcCall<>(
                        RuntimeServiceGrpc.getRemovePodSandboxMethod(),
                        RemovePodSandboxRequest.newBuilder().setPodSandboxId(id).build(),
                        answer -> RuntimeCall.Done.DONE);
            case RuntimeCall.CreateContainer(String sandbox, ContainerConfig config, SandboxConfig pod) ->
                new GrpcCall<>(
                        RuntimeServiceGrpc.getCreateContainerMethod(),
                        CreateContainerRequest.newBuilder()
                                .setPodSandboxId(sandbox)
                                .setConfig(RuntimeRequests.container(config))
                                .setSandboxConfig(RuntimeRequests.sandbox(pod))
                                .build(),
                        CreateContainerResponse::getContainerId);
            case RuntimeCall.StartContainer(String id) ->
                new GrpcCall<>(
                        RuntimeServiceGrpc.getStartContainerMethod(),
                        StartContainerRequest.newBuilder().setContainerId(id).build(),
                        answer -> RuntimeCall.Done.DONE);
            case RuntimeCall.StopContainer(String id, Duration grace) ->
                new GrpcCall<>(
                        RuntimeServiceGrpc.getStopContainerMethod(),
                        StopContainerRequest.newBuilder()
                                .setContainerId(id)
                                .setTimeout(grace.toSeconds())
                                .build(),
                        answer -> RuntimeCall.Done.DONE);
            case RuntimeCall.ReopenLog(String id) ->
                new GrpcCall<>(
                        RuntimeServiceGrpc.getReopenContainerLogMethod(),
                        ReopenContainerLogRequest.newBuilder()
                                .setContainerId(id)
                                .build(),
                        answer -> RuntimeCall.Done.DONE);
            case RuntimeCall.RemoveContainer(String id) ->
                new GrpcCall<>(
                        RuntimeServiceGrpc.getRemoveContainerMethod(),
                        RemoveContainerRequest.newBuilder().setContainerId(id).build(),
                        answer -> RuntimeCall.Done.DONE);
            case RuntimeCall.PinContainer(String id, String cpus) ->
                new GrpcCall<>(
                        RuntimeServiceGrpc.getUpdateContainerResourcesMethod(),
                        UpdateContainerResourcesRequest.newBuilder()
                                .setContainerId(id)
                                .setLinux(RuntimeRequests.processors(cpus))
                                .build(),
                        answer -> RuntimeCall.Done.DONE);
            case RuntimeCall.Exec(String id, List<String> command, RuntimeCall.Streams streams) ->
                new GrpcCall<>(
                        RuntimeServiceGrpc.getExecMethod(),
                        ExecRequest.newBuilder()
                                .setContainerId(id)
                                .addAllCmd(command)
                                .setTty(streams.tty())
                                .setStdin(streams.stdin())
                                .setStdout(streams.stdout())
                                .setStderr(streams.stderr())
                                .build(),
                        ExecResponse::getUrl);
            case RuntimeCall.Attach(String id, RuntimeCall.Streams streams) ->
                new GrpcCall<>(
                        RuntimeServiceGrpc.getAttachMethod(),
                        AttachRequest.newBuilder()
                                .setContainerId(id)
                                .setTty(streams.tty())
                                .setStdin(streams.stdin())
                                .setStdout(streams.stdout())
                                .setStderr(streams.stderr())
                                .build(),
                        AttachResponse::getUrl);
            case RuntimeCall.PortForward(String sandbox, List<Integer> ports) ->
                new GrpcCall<>(
                        RuntimeServiceGrpc.getPortForwardMethod(),
                        PortForwardRequest.newBuilder()
                                .setPodSandboxId(sandbox)
                                .addAllPort(ports)
                                .build(),
                        PortForwardResponse::getUrl);
            case RuntimeCall.ExecSync(String id, List<String> command, Duration timeout, int most) ->
                new GrpcCall<>(
                        RuntimeServiceGrpc.getExecSyncMethod(),
                        ExecSyncRequest.newBuilder()
                                .setContainerId(id)
                                .addAllCmd(command)
                                .setTimeout(timeout.plusNanos(999_999_999).toSeconds())
                                .build(),
                        RuntimeResponses::exec,
                        most);
        };
    }

    private static ListPodSandboxRequest sandboxesOf(Optional<String> podUid) {
        ListPodSandboxRequest.Builder request = ListPodSandboxRequest.newBuilder();
        podUid.ifPresent(uid -> request.setFilter(PodSandboxFilter.newBuilder().putLabelSelector(POD_UID, uid)));
        return request.build();
    }

    private static ListContainersRequest containersOf(Optional<String> podUid) {
        ListContainersRequest.Builder request = ListContainersRequest.newBuilder();
        podUid.ifPresent(uid -> request.setFilter(ContainerFilter.newBuilder().putLabelSelector(POD_UID, uid)));
        return request.build();
    }
}
