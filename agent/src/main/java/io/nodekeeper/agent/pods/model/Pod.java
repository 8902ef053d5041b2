package io.nodekeeper.agent.pods.model;

import io.nodekeeper.api.ApiObject;
import io.nodekeeper.api.KubeTime;
import io.nodekeeper.api.json.JsonObject;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/** A pod of the API, or of a file in the same form. Defaults are those of the API. Immutable. */
public record Pod(JsonObject json) implements ApiObject {
    /** {@code status.phase} of a pod that has not started all of its containers. */
    public static final String PENDING = "Pending";
    /** See {@link #PENDING}: a container runs or will run again. */
    public static final String RUNNING = "Running";
    /** See {@link #PENDING}: all containers ended with 0 and will not run again. */
    public static final String SUCCEEDED = "Succeeded";
    /** See {@link #PENDING}: all containers ended, one of them with an error. */
    public static final String FAILED = "Failed";

    /** The annotation of Kubernetes that says where a pod came from: {@code file}, {@code http} or {@code api}. */
    public static final String CONFIG_SOURCE = "kubernetes.io/config.source";
    /** The annotation of Kubernetes with the hash of a static pod. */
    public static final String CONFIG_HASH = "kubernetes.io/config.hash";
    /** The annotation of Kubernetes with the time at which the node first saw the pod. */
    public static final String CONFIG_SEEN = "kubernetes.io/config.seen";
    /** The annotation of Kubernetes that marks the API's copy of a static pod, with the static pod's hash. */
    public static final String CONFIG_MIRROR = "kubernetes.io/config.mirror";

    /** Kubernetes' default grace period. */
    private static final long GRACE_SECONDS = 30;

    /** When the node starts a container again that has ended. */
    public enum RestartPolicy {
        /** Always; the default. */
        ALWAYS,
        /** If it ended with an error. */
        ON_FAILURE,
        /** Never. */
        NEVER
    }

    /** {@code spec.containers}. */
    public List<ContainerSpec> containers() {
        return spec().array("containers").objects().map(ContainerSpec::new).toList();
    }

    /** {@code spec.restartPolicy}. */
    public RestartPolicy restartPolicy() {
        return switch (spec().text("restartPolicy")) {
            case "Never" -> RestartPolicy.NEVER;
            case "OnFailure" -> RestartPolicy.ON_FAILURE;
            default -> RestartPolicy.ALWAYS;
        };
    }

    /** {@code spec.hostNetwork}. */
    public boolean hostNetwork() {
        return spec().bool("hostNetwork");
    }

    /** {@code status.phase}; {@code Pending} if absent. */
    public String phase() {
        String phase = status().text("phase");
        return phase.isEmpty() ? PENDING : phase;
    }

    /** Whether the phase says that nothing of the pod will run again. */
    public boolean isTerminal() {
        return phase().equals(SUCCEEDED) || phase().equals(FAILED);
    }

    /** {@code metadata.deletionTimestamp}: when the grace period of its deletion ends. */
    public Optional<Instant> deletionTimestamp() {
        return KubeTime.parse(metadata().text("deletionTimestamp"));
    }

    /** The time that containers have to end: that of the deletion, else {@code spec.terminationGracePeriodSeconds}. */
    public Duration grace() {
        long seconds = metadata()
                .number("deletionGracePeriodSeconds")
                .or(() -> spec().number("terminationGracePeriodSeconds"))
                .orElse(GRACE_SECONDS);
        // As in Kubernetes, containers always get a moment.
        return Duration.ofSeconds(Math.max(1, seconds));
    }

    /** Whether it came from a file, and not from the API. */
    public boolean isStatic() {
        String source = annotations().getOrDefault(CONFIG_SOURCE, "api");
        return !source.equals("api");
    }

    /** Whether it is the API's copy of a static pod. */
    public boolean isMirror() {
        return annotations().containsKey(CONFIG_MIRROR);
    }

    /** {@code NAMESPACE/NAME}. */
    public String fullName() {
        return namespace() + "/" + name();
    }
}
