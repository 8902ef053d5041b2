package io.nodekeeper.it;

import com.google.protobuf.InvalidProtocolBufferException;
import io.nodekeeper.cri.CriRelay;
import io.nodekeeper.cri.v1.ContainerStatusRequest;
import io.nodekeeper.cri.v1.CreateContainerRequest;
import io.nodekeeper.cri.v1.CreateContainerResponse;
import io.nodekeeper.cri.v1.ListContainersRequest;
import io.nodekeeper.cri.v1.ListPodSandboxRequest;
import io.nodekeeper.cri.v1.PodSandboxStatusRequest;
import io.nodekeeper.cri.v1.RemoveContainerRequest;
import io.nodekeeper.cri.v1.RemovePodSandboxRequest;
import io.nodekeeper.cri.v1.RunPodSandboxRequest;
import io.nodekeeper.cri.v1.RunPodSandboxResponse;
import io.nodekeeper.cri.v1.StartContainerRequest;
import io.nodekeeper.cri.v1.StopContainerRequest;
import io.nodekeeper.cri.v1.StopPodSandboxRequest;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The CRI calls about each pod, from those that a relay has recorded. Calls that name no pod, such as ImageStatus, have none. */
final class PodCalls {
    private static final String UID = "io.kubernetes.pod.uid";

    /** By the id of a sandbox or container. */
    private final Map<String, String> uids = new HashMap<>();
    /** By id of the container. */
    private final Map<String, String> names = new HashMap<>();

    private final List<PodCall> calls = new ArrayList<>();

    /**
     * A call about a pod.
     *
     * @param container its name; empty if the call is about the pod or its sandbox
     */
    record PodCall(String uid, String container, CriRelay.Call call) {
        /** The method, with the container's name if there is one. */
        String text() {
            return container.isEmpty() ? call.method() : call.method() + " " + container;
        }
    }

    PodCalls(List<CriRelay.Call> recorded) throws InvalidProtocolBufferException {
        for (CriRelay.Call call : recorded) {
            learn(call);
        }
        List<CriRelay.Call> inOrder = recorded.stream()
                .sorted(Comparator.comparingLong(CriRelay.Call::began))
                .toList();
        for (CriRelay.Call call : inOrder) {
            String id = id(call);
            String uid = uids.getOrDefault(id, id);
            calls.add(new PodCall(uid, names.getOrDefault(id, created(call)), call));
        }
    }

    /** All calls about the pod, in the order in which they began. */
    List<PodCall> of(String uid) {
        return calls.stream().filter(call -> call.uid().equals(uid)).toList();
    }

    /** All calls that are about no pod, and those about pods. */
    List<PodCall> all() {
        return calls;
    }

    /** The pod's first call of this method. */
    Optional<CriRelay.Call> first(String uid, String method) {
        return of(uid).stream()
                .map(PodCall::call)
                .filter(call -> call.method().equals(method))
                .findFirst();
    }

    private void learn(CriRelay.Call call) throws InvalidProtocolBufferException {
        switch (call.method()) {
            case "RunPodSandbox" ->
                uids.put(
                        RunPodSandboxResponse.parseFrom(call.answer()).getPodSandboxId(),
                        RunPodSandboxRequest.parseFrom(call.request())
                                .getConfig()
                                .getMetadata()
                                .getUid());
            case "CreateContainer" -> {
                String id = CreateContainerResponse.parseFrom(call.answer()).getContainerId();
                uids.put(
                        id,
                        CreateContainerRequest.parseFrom(call.request())
                                .getSandboxConfig()
                                .getMetadata()
                                .getUid());
                names.put(id, created(call));
            }
            default -> {}
        }
    }

    private static String created(CriRelay.Call call) throws InvalidProtocolBufferException {
        return call.method().equals("CreateContainer")
                ? CreateContainerRequest.parseFrom(call.request())
                        .getConfig()
                        .getMetadata()
                        .getName()
                : "";
    }

    /** The id that the call is about, or the pod's UID. */
    private static String id(CriRelay.Call call) throws InvalidProtocolBufferException {
        byte[] request = call.request();
        return switch (call.method()) {
            case "RunPodSandbox" ->
                RunPodSandboxRequest.parseFrom(request)
                        .getConfig()
                        .getMetadata()
                        .getUid();
            case "CreateContainer" ->
                CreateContainerRequest.parseFrom(request)
                        .getSandboxConfig()
                        .getMetadata()
                        .getUid();
            case "ListPodSandbox" ->
                ListPodSandboxRequest.parseFrom(request).getFilter().getLabelSelectorOrDefault(UID, "");
            case "ListContainers" ->
                ListContainersRequest.parseFrom(request).getFilter().getLabelSelectorOrDefault(UID, "");
            case "PodSandboxStatus" ->
                PodSandboxStatusRequest.parseFrom(request).getPodSandboxId();
            case "ContainerStatus" -> ContainerStatusRequest.parseFrom(request).getContainerId();
            case "StartContainer" -> StartContainerRequest.parseFrom(request).getContainerId();
            case "StopContainer" -> StopContainerRequest.parseFrom(request).getContainerId();
            case "RemoveContainer" -> RemoveContainerRequest.parseFrom(request).getContainerId();
            case "StopPodSandbox" -> StopPodSandboxRequest.parseFrom(request).getPodSandboxId();
            case "RemovePodSandbox" ->
                RemovePodSandboxRequest.parseFrom(request).getPodSandboxId();
            default -> "";
        };
    }
}
