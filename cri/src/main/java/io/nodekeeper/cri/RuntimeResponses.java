package io.nodekeeper.cri;

import com.google.protobuf.ByteString;
import io.nodekeeper.cri.v1.ContainerStatsResponse;
import io.nodekeeper.cri.v1.ContainerStatusResponse;
import io.nodekeeper.cri.v1.ExecSyncResponse;
import io.nodekeeper.cri.v1.ImageFsInfoResponse;
import io.nodekeeper.cri.v1.ImageStatusResponse;
import io.nodekeeper.cri.v1.ListContainersResponse;
import io.nodekeeper.cri.v1.ListImagesResponse;
import io.nodekeeper.cri.v1.ListPodSandboxResponse;
import io.nodekeeper.cri.v1.PodSandboxMetadata;
import io.nodekeeper.cri.v1.PodSandboxNetworkStatus;
import io.nodekeeper.cri.v1.PodSandboxState;
import io.nodekeeper.cri.v1.PodSandboxStatusResponse;
import io.nodekeeper.cri.v1.StatusResponse;
import io.nodekeeper.cri.v1.VersionResponse;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Converts the runtime's protobuf answers to values. An answer that lacks required fields causes an
 * {@link IllegalArgumentException}. An absent state is proto3's zero value: a ready sandbox, a created container.
 */
final class RuntimeResponses {
    /** containerd's field. The value is an image's name, which needs no escapes. */
    private static final Pattern SANDBOX_IMAGE = Pattern.compile("\"sandboxImage\"\\s*:\\s*\"([^\"\\\\]{1,512})\"");

    private RuntimeResponses() {}

    static RuntimeVersion version(VersionResponse answer) {
        String fields = "version \"" + answer.getVersion() + "\", runtime_name \"" + answer.getRuntimeName()
                + "\", runtime_version \"" + answer.getRuntimeVersion() + "\", runtime_api_version \""
                + answer.getRuntimeApiVersion() + "\"";
        if (answer.getVersion().isEmpty()
                || answer.getRuntimeName().isEmpty()
                || answer.getRuntimeVersion().isEmpty()
                || answer.getRuntimeApiVersion().isEmpty()) {
            throw new IllegalArgumentException("an answer with all four fields was expected, got " + fields);
        }
        if (!answer.getVersion().equals(GrpcCall.API_VERSION)) {
            throw new IllegalArgumentException(
                    "version \"" + GrpcCall.API_VERSION + "\" of the interface was expected, got " + fields);
        }
        return new RuntimeVersion(answer.getRuntimeName(), answer.getRuntimeVersion(), answer.getRuntimeApiVersion());
    }

    static RuntimeStatus status(StatusResponse answer) {
        require(answer.hasStatus(), "an answer with a status was expected, got none");
        List<RuntimeCondition> conditions = answer.getStatus().getConditionsList().stream()
                .map(condition -> new RuntimeCondition(
                        condition.getType(), condition.getStatus(), condition.getReason(), condition.getMessage()))
                .toList();
        List<RuntimeHandler> handlers = answer.getRuntimeHandlersList().stream()
                .map(handler -> new RuntimeHandler(
                        handler.getName(),
                        handler.getFeatures().getRecursiveReadOnlyMounts(),
                        handler.getFeatures().getUserNamespaces()))
                .toList();
        return new RuntimeStatus(
                conditions,
                handlers,
                answer.hasFeatures()
                        ? Optional.of(answer.getFeatures().getSupplementalGroupsPolicy())
                        : Optional.empty());
    }

    static List<PodSandbox> sandboxes(ListPodSandboxResponse answer) {
        return answer.getItemsList().stream()
                .map(item -> sandbox(item.getId(), item.getMetadata(), item.getState(), item.getCreatedAt()))
                .toList();
    }

    static PodSandboxStatus sandbox(String id, PodSandboxStatusResponse answer) {
        var status = answer.getStatus();
        about(id, status.getId());
        List<String> ips = new ArrayList<>();
        PodSandboxNetworkStatus network = status.getNetwork();
        if (!network.getIp().isEmpty()) {
            ips.add(network.getIp());
        }
        network.getAdditionalIpsList().forEach(additional -> ips.add(additional.getIp()));
        return new PodSandboxStatus(
                sandbox(status.getId(), status.getMetadata(), status.getState(), status.getCreatedAt()),
                List.copyOf(ips));
    }

    private static PodSandbox sandbox(String id, PodSandboxMetadata pod, PodSandboxState state, long createdAt) {
        return new PodSandbox(
                id,
                pod.getUid(),
                pod.getName(),
                pod.getNamespace(),
                pod.getAttempt(),
                state == PodSandboxState.SANDBOX_READY,
                createdAt);
    }

    static List<Container> containers(ListContainersResponse answer) {
        return answer.getContainersList().stream()
                .map(container -> new Container(
                        container.getId(),
                        container.getPodSandboxId(),
                        container.getMetadata().getName(),
                        container.getLabelsOrDefault(GrpcCall.POD_UID, ""),
                        state(container.getState()),
                        container.getCreatedAt(),
                        images(container)))
                .toList();
    }

    private static Set<String> images(io.nodekeeper.cri.v1.Container container) {
        return Stream.of(container.getImage().getImage(), container.getImageRef(), container.getImageId())
                .filter(name -> !name.isEmpty())
                .collect(Collectors.toUnmodifiableSet());
    }

    /** From the runtime's own configuration, which is JSON in a map that CRI leaves to runtimes. */
    static Optional<String> sandboxImage(StatusResponse answer) {
        Matcher image = SANDBOX_IMAGE.matcher(answer.getInfoOrDefault("config", ""));
        return image.find() ? Optional.of(image.group(1)) : Optional.empty();
    }

    static ContainerStatus container(String id, ContainerStatusResponse answer) {
        var status = answer.getStatus();
        about(id, status.getId());
        return new ContainerStatus(
                status.getId(),
                status.getMetadata().getName(),
                state(status.getState()),
                status.getStartedAt(),
                status.getFinishedAt(),
                status.getExitCode(),
                status.getReason(),
                status.getMessage(),
                new ContainerStatus.Origin(
                        status.getMetadata().getAttempt(),
                        status.getCreatedAt(),
                        status.getImage().getImage(),
                        status.getImageRef(),
                        status.getAnnotationsMap()));
    }

    private static ContainerState state(io.nodekeeper.cri.v1.ContainerState state) {
        return switch (state) {
            case CONTAINER_CREATED -> ContainerState.CREATED;
            case CONTAINER_RUNNING -> ContainerState.RUNNING;
            case CONTAINER_EXITED -> ContainerState.EXITED;
            case CONTAINER_UNKNOWN, UNRECOGNIZED -> ContainerState.UNKNOWN;
        };
    }

    static ContainerUsage usage(String id, ContainerStatsResponse answer) {
        var stats = answer.getStats();
        about(id, stats.getAttributes().getId());
        return new ContainerUsage(
                stats.getAttributes().getId(),
                stats.getCpu().getUsageCoreNanoSeconds().getValue(),
                stats.getMemory().getWorkingSetBytes().getValue(),
                stats.getWritableLayer().getUsedBytes().getValue(),
                stats.getWritableLayer().getInodesUsed().getValue());
    }

    /** Without users: a list is kept, an image's user has any length, and only who starts a container needs it. */
    static List<Image> images(ListImagesResponse answer) {
        return answer.getImagesList().stream()
                .map(image -> image(image, OptionalLong.empty(), ""))
                .toList();
    }

    static Optional<Image> image(ImageStatusResponse answer) {
        if (!answer.hasImage()) {
            return Optional.empty();
        }
        var image = answer.getImage();
        OptionalLong user = image.hasUid() ? OptionalLong.of(image.getUid().getValue()) : OptionalLong.empty();
        return Optional.of(image(image, user, image.getUsername()));
    }

    private static Image image(io.nodekeeper.cri.v1.Image image, OptionalLong user, String userName) {
        return new Image(
                image.getId(),
                List.copyOf(image.getRepoDigestsList()),
                List.copyOf(image.getRepoTagsList()),
                image.getSize(),
                user,
                userName,
                image.getPinned());
    }

    static List<ImageFilesystem> filesystems(ImageFsInfoResponse answer) {
        return answer.getImageFilesystemsList().stream()
                .map(usage -> new ImageFilesystem(
                        usage.getFsId().getMountpoint(),
                        usage.getUsedBytes().getValue(),
                        usage.getInodesUsed().getValue()))
                .toList();
    }

    static RuntimeCall.ExecSync.Result exec(ExecSyncResponse answer) {
        ByteString all = answer.getStdout().concat(answer.getStderr());
        ByteString kept = all.substring(0, Math.min(all.size(), RuntimeCall.ExecSync.MOST_OUTPUT));
        return new RuntimeCall.ExecSync.Result(answer.getExitCode(), kept.toStringUtf8());
    }

    /** Runtimes accept a prefix of an id as the id, so the answer may have a longer one. */
    private static void about(String id, String answered) {
        require(
                !answered.isEmpty() && answered.startsWith(id),
                "an answer about \"" + id + "\" was expected, got one about \"" + answered + "\"");
    }

    private static void require(boolean holds, String message) {
        if (!holds) {
            throw new IllegalArgumentException(message);
        }
    }
}
