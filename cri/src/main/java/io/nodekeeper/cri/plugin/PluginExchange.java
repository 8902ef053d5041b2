package io.nodekeeper.cri.plugin;

import io.grpc.MethodDescriptor;
import io.nodekeeper.cri.plugin.csi.NodeGetCapabilitiesRequest;
import io.nodekeeper.cri.plugin.csi.NodeGetCapabilitiesResponse;
import io.nodekeeper.cri.plugin.csi.NodeGetInfoRequest;
import io.nodekeeper.cri.plugin.csi.NodeGrpc;
import io.nodekeeper.cri.plugin.csi.NodePublishVolumeRequest;
import io.nodekeeper.cri.plugin.csi.NodeStageVolumeRequest;
import io.nodekeeper.cri.plugin.csi.NodeUnpublishVolumeRequest;
import io.nodekeeper.cri.plugin.csi.NodeUnstageVolumeRequest;
import io.nodekeeper.cri.plugin.csi.VolumeCapability;
import io.nodekeeper.cri.plugin.registration.InfoRequest;
import io.nodekeeper.cri.plugin.registration.RegistrationGrpc;
import io.nodekeeper.cri.plugin.registration.RegistrationStatus;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.Set;
import java.util.function.Function;

/**
 * A {@link PluginCall} as gRPC's method and message, and how its answer is read. Immutable.
 *
 * @param <Q> the message that is sent
 * @param <A> the message that comes
 * @param <T> the answer
 */
record PluginExchange<Q, A, T>(MethodDescriptor<Q, A> method, Q request, Function<A, T> read) {
    private static final PluginCall.Done DONE = new PluginCall.Done();

    @SuppressWarnings("unchecked")
    static <T> PluginExchange<?, ?, T> of(PluginCall<T> call) {
        // Each case answers with the type that its call has as T.
        return (PluginExchange<?, ?, T>) make(call);
    }

    private static PluginExchange<?, ?, ?> make(PluginCall<?> call) {
        return switch (call) {
            case PluginCall.GetInfo info ->
                new PluginExchange<>(
                        RegistrationGrpc.getGetInfoMethod(),
                        InfoRequest.getDefaultInstance(),
                        answer -> new PluginCall.Identity(
                                answer.getType(),
                                answer.getName(),
                                answer.getEndpoint(),
                                answer.getSupportedVersionsList()));
            case PluginCall.NotifyRegistrationStatus(boolean registered, String error) ->
                new PluginExchange<>(
                        RegistrationGrpc.getNotifyRegistrationStatusMethod(),
                        RegistrationStatus.newBuilder()
                                .setPluginRegistered(registered)
                                .setError(error)
                                .build(),
                        answer -> DONE);
            case PluginCall.NodeGetInfo info ->
                new PluginExchange<>(
                        NodeGrpc.getNodeGetInfoMethod(),
                        NodeGetInfoRequest.getDefaultInstance(),
                        answer -> new PluginCall.NodeInfo(
                                answer.getNodeId(),
                                answer.getMaxVolumesPerNode(),
                                answer.getAccessibleTopology().getSegmentsMap()));
            case PluginCall.NodeGetCapabilities capabilities ->
                new PluginExchange<>(
                        NodeGrpc.getNodeGetCapabilitiesMethod(),
                        NodeGetCapabilitiesRequest.getDefaultInstance(),
                        PluginExchange::capabilities);
            case PluginCall.NodeStageVolume(PluginCall.Volume volume) ->
                new PluginExchange<>(NodeGrpc.getNodeStageVolumeMethod(), stage(volume), answer -> DONE);
            case PluginCall.NodeUnstageVolume(String handle, String path) ->
                new PluginExchange<>(
                        NodeGrpc.getNodeUnstageVolumeMethod(),
                        NodeUnstageVolumeRequest.newBuilder()
                                .setVolumeId(handle)
                                .setStagingTargetPath(path)
                                .build(),
                        answer -> DONE);
            case PluginCall.NodePublishVolume(PluginCall.Volume volume, String target, boolean readOnly) ->
                new PluginExchange<>(
                        NodeGrpc.getNodePublishVolumeMethod(), publish(volume, target, readOnly), answer -> DONE);
            case PluginCall.NodeUnpublishVolume(String handle, String target) ->
                new PluginExchange<>(
                        NodeGrpc.getNodeUnpublishVolumeMethod(),
                        NodeUnpublishVolumeRequest.newBuilder()
                                .setVolumeId(handle)
                                .setTargetPath(target)
                                .build(),
                        answer -> DONE);
        };
    }

    private static Set<PluginCall.Capability> capabilities(NodeGetCapabilitiesResponse answer) {
        Set<PluginCall.Capability> known = EnumSet.noneOf(PluginCall.Capability.class);
        answer.getCapabilitiesList()
                .forEach(capability -> Arrays.stream(PluginCall.Capability.values())
                        .filter(each ->
                                each.name().equals(capability.getRpc().getType().name()))
                        .forEach(known::add));
        return known;
    }

    private static NodeStageVolumeRequest stage(PluginCall.Volume volume) {
        return NodeStageVolumeRequest.newBuilder()
                .setVolumeId(volume.handle())
                .setStagingTargetPath(volume.stagingPath())
                .setVolumeCapability(capability(volume))
                .putAllPublishContext(volume.publishContext())
                .putAllSecrets(volume.secrets())
                .putAllVolumeContext(volume.volumeContext())
                .build();
    }

    private static NodePublishVolumeRequest publish(PluginCall.Volume volume, String target, boolean readOnly) {
        return NodePublishVolumeRequest.newBuilder()
                .setVolumeId(volume.handle())
                .setStagingTargetPath(volume.stagingPath())
                .setTargetPath(target)
                .setReadonly(readOnly)
                .setVolumeCapability(capability(volume))
                .putAllPublishContext(volume.publishContext())
                .putAllSecrets(volume.secrets())
                .putAllVolumeContext(volume.volumeContext())
                .build();
    }

    private static VolumeCapability capability(PluginCall.Volume volume) {
        return VolumeCapability.newBuilder()
                .setMount(VolumeCapability.MountVolume.newBuilder()
                        .setFsType(volume.fsType())
                        .addAllMountFlags(volume.mountOptions())
                        .setVolumeMountGroup(volume.mountGroup()))
                .setAccessMode(VolumeCapability.AccessMode.newBuilder()
                        .setModeValue(volume.access().number()))
                .build();
    }
}
