package io.nodekeeper.agent.pods.containers;

import io.nodekeeper.agent.pods.model.ContainerSpec;
import io.nodekeeper.agent.pods.model.Pod;
import io.nodekeeper.cri.ContainerStatus;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/**
 * The labels, annotations and log paths that a kubelet 1.32 gives to sandboxes and containers. Log collectors read them,
 * and a restarted agent recognizes its containers by them.
 */
public final class PodLabels {
    /** The label with the name of a pod. */
    public static final String POD_NAME = "io.kubernetes.pod.name";
    /** The label with the namespace of a pod. */
    public static final String POD_NAMESPACE = "io.kubernetes.pod.namespace";
    /** The label with the UID of a pod. */
    public static final String POD_UID = "io.kubernetes.pod.uid";
    /** The label with the name of a container. */
    public static final String CONTAINER_NAME = "io.kubernetes.container.name";
    /** The annotation with the hash of a container's spec. */
    public static final String HASH = "io.kubernetes.container.hash";
    /** The annotation with how often a container was started again. */
    public static final String RESTART_COUNT = "io.kubernetes.container.restartCount";
    /** The annotation with the grace period of a container, seconds. */
    public static final String GRACE = "io.kubernetes.pod.terminationGracePeriod";

    /** The annotation with the path at which a container writes why it ended, or its beginning. */
    public static final String MESSAGE_PATH = "io.kubernetes.container.terminationMessagePath";
    /** The annotation with what is done if it wrote nothing. */
    public static final String MESSAGE_POLICY = "io.kubernetes.container.terminationMessagePolicy";

    /**
     * The most characters of what a pod says in the annotations of a container. A runtime lists those of all containers in one message
     * of at most 16 MiB, also of containers that never started, and a path may have a megabyte.
     */
    private static final int MOST_TEXT = 64;

    /** FNV-1a, 32 bits: the offset and the prime of the algorithm. */
    private static final int FNV_OFFSET = 0x811c9dc5;

    private static final int FNV_PRIME = 0x01000193;

    private PodLabels() {}

    /** The labels of a container. */
    static Map<String, String> container(Pod pod, ContainerSpec container) {
        return Map.of(
                POD_NAME,
                pod.name(),
                POD_NAMESPACE,
                pod.namespace(),
                POD_UID,
                pod.uid(),
                CONTAINER_NAME,
                container.name());
    }

    /** The annotations of a container. */
    static Map<String, String> annotations(Pod pod, ContainerSpec container, int attempt) {
        Map<String, String> annotations = new LinkedHashMap<>();
        annotations.put(HASH, hash(container));
        annotations.put(RESTART_COUNT, Integer.toString(attempt));
        annotations.put(MESSAGE_PATH, beginning(container.terminationMessagePath()));
        annotations.put(MESSAGE_POLICY, beginning(container.terminationMessagePolicy()));
        annotations.put(GRACE, Long.toString(pod.grace().toSeconds()));
        return annotations;
    }

    private static String beginning(String text) {
        return text.codePointCount(0, text.length()) <= MOST_TEXT
                ? text
                : text.substring(0, text.offsetByCodePoints(0, MOST_TEXT));
    }

    /** The hash of what a container is replaced for: its name and its image, as since Kubernetes 1.31. */
    public static String hash(ContainerSpec container) {
        int hash = FNV_OFFSET;
        for (byte part : (container.name() + "\n" + container.image()).getBytes(StandardCharsets.UTF_8)) {
            hash = (hash ^ (part & 0xff)) * FNV_PRIME;
        }
        return Integer.toHexString(hash);
    }

    /** Whether {@code container} is to be replaced, because its spec was another one when it was created. */
    public static boolean isChanged(ContainerSpec container, ContainerStatus status) {
        String hash = status.origin().annotations().getOrDefault(HASH, "");
        return !hash.isEmpty() && !hash.equals(hash(container));
    }

    /** How often the container was started again before, from its annotation or its attempt. */
    public static int restartCount(ContainerStatus status) {
        String count = status.origin().annotations().getOrDefault(RESTART_COUNT, "");
        return count.matches("\\d{1,9}")
                ? Integer.parseInt(count)
                : status.origin().attempt();
    }

    /** The grace period of a container whose pod is not known; empty if it has none. */
    public static Optional<Duration> grace(ContainerStatus status) {
        String seconds = status.origin().annotations().getOrDefault(GRACE, "");
        return seconds.matches("\\d{1,9}")
                ? Optional.of(Duration.ofSeconds(Integer.parseInt(seconds)))
                : Optional.empty();
    }

    /** {@code LOGS/NAMESPACE_NAME_UID}. */
    public static Path logDirectory(Path logs, Pod pod) {
        return logDirectory(logs, pod.namespace(), pod.name(), pod.uid());
    }

    /** As {@link #logDirectory(Path, Pod)}, for a pod that is known by its names only. */
    public static Path logDirectory(Path logs, String namespace, String name, String uid) {
        return logs.resolve(namespace + "_" + name + "_" + uid);
    }

    /** The log of one attempt of a container, relative to the pod's directory. */
    public static String logPath(String container, int attempt) {
        return container + "/" + attempt + ".log";
    }
}
