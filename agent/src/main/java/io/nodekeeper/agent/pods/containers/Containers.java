package io.nodekeeper.agent.pods.containers;

import io.nodekeeper.agent.pods.model.ContainerSpec;
import io.nodekeeper.agent.pods.model.Pod;
import io.nodekeeper.agent.pods.model.VolumeKind;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.cri.Image;
import io.nodekeeper.cri.config.ContainerConfig;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Translates a container of a pod to the runtime's configuration, as a kubelet 1.32 does. */
public final class Containers {
    private static final String HOSTS = "/etc/hosts";
    /** The longest path in bytes, which Linux ends with a zero ({@code PATH_MAX}). */
    private static final int LONGEST_PATH = 4_095;

    private Containers() {}

    /**
     * What a container's configuration needs besides its pod. Immutable.
     *
     * @param image the image as the node has it
     * @param references what its environment refers to
     * @param podIps the addresses of the pod
     * @param volumes the path on the node of each volume, by its name
     * @param subPaths the path on the node of each {@link SubPath}, by the number of its mount
     * @param hostsFile the pod's {@code /etc/hosts} on the node
     * @param own what the container has for itself
     * @param terminationLog the file on the node in which the container can write why it ends
     * @param target the runtime's id of the container whose processes it sees; empty for its own
     */
    public record Inputs(
            NodeSettings node,
            Image image,
            References references,
            List<String> podIps,
            Map<String, Path> volumes,
            Map<Integer, Path> subPaths,
            Path hostsFile,
            OwnResources own,
            Path terminationLog,
            Optional<String> target) {
        /** Keeps copies. */
        public Inputs {
            podIps = List.copyOf(podIps);
            volumes = Map.copyOf(volumes);
            subPaths = Map.copyOf(subPaths);
        }

        /** The same with these parts of volumes. */
        public Inputs with(Map<Integer, Path> parts) {
            return new Inputs(node, image, references, podIps, volumes, parts, hostsFile, own, terminationLog, target);
        }

        /** The same with what the container has for itself. */
        public Inputs with(OwnResources other) {
            return new Inputs(
                    node, image, references, podIps, volumes, subPaths, hostsFile, other, terminationLog, target);
        }
    }

    /**
     * A mount of a part of a volume. Immutable.
     *
     * @param mount the number of the mount in the container
     * @param inside the path in the volume: relative, and without {@code ..}
     */
    public record SubPath(int mount, String volume, String inside) {}

    /**
     * The parts of volumes that {@code container} mounts, with their variables replaced.
     *
     * @throws ContainerConfigException if a path is absolute or goes up, or if a variable or reference is missing
     */
    public static List<SubPath> subPaths(Pod pod, ContainerSpec container, Inputs inputs) {
        List<JsonObject> mounts =
                container.json().array("volumeMounts").objects().toList();
        DownwardFields fields = new DownwardFields(pod, inputs.node(), inputs.podIps());
        // Once: a container may have thousands of mounts, and thousands of variables.
        Map<String, String> environment = mounts.stream().anyMatch(Containers::isExpanded)
                ? Environment.of(pod, container, inputs.references(), fields)
                : Map.of();
        List<SubPath> found = new ArrayList<>();
        for (int i = 0; i < mounts.size(); i++) {
            if (hasSubPath(mounts.get(i))) {
                found.add(new SubPath(i, mounts.get(i).text("name"), inside(mounts.get(i), environment)));
            }
        }
        return found;
    }

    private static boolean hasSubPath(JsonObject mount) {
        return !mount.text("subPath").isEmpty() || !mount.text("subPathExpr").isEmpty();
    }

    private static boolean isExpanded(JsonObject mount) {
        return mount.text("subPath").isEmpty() && !mount.text("subPathExpr").isEmpty();
    }

    private static String inside(JsonObject mount, Map<String, String> environment) {
        String path =
                isExpanded(mount) ? Expansion.expandAll(mount.text("subPathExpr"), environment) : mount.text("subPath");
        if (path.startsWith("/")) {
            throw new ContainerConfigException("error SubPath `" + path + "` must not be an absolute path");
        }
        if (List.of(path.split("/", -1)).contains("..") || path.indexOf('\0') >= 0) {
            throw new ContainerConfigException("unable to provision SubPath `" + path + "`: must not contain '..'");
        }
        return path;
    }

    /**
     * The configuration of attempt number {@code attempt} of {@code container}.
     *
     * @throws ContainerConfigException if something that the container refers to is missing or wrong
     */
    public static ContainerConfig config(Pod pod, ContainerSpec container, int attempt, Inputs inputs) {
        DownwardFields fields = new DownwardFields(pod, inputs.node(), inputs.podIps());
        Map<String, String> environment = Environment.of(pod, container, inputs.references(), fields);
        JsonObject json = container.json();
        return new ContainerConfig(
                container.name(),
                attempt,
                inputs.image().id(),
                expanded(json, "command", environment),
                expanded(json, "args", environment),
                json.text("workingDir"),
                all(inputs.own().devices().environment(), environment),
                mounts(pod, container, inputs),
                PodLabels.container(pod, container),
                all(inputs.own().devices().annotations(), PodLabels.annotations(pod, container, attempt)),
                PodLabels.logPath(container.name(), attempt),
                new ContainerConfig.Terminal(json.bool("stdin"), json.bool("stdinOnce"), json.bool("tty")),
                Limits.of(pod, container, inputs.node()).on(inputs.own().cpus()),
                Rights.of(pod, container, inputs.image(), inputs.node().seccomp(), inputs.target()),
                inputs.own().devices().devices(),
                inputs.own().devices().cdiDevices());
    }

    /** Both; {@code more} counts where both have a value. */
    private static Map<String, String> all(Map<String, String> some, Map<String, String> more) {
        Map<String, String> all = new LinkedHashMap<>(some);
        all.putAll(more);
        return all;
    }

    private static List<String> expanded(JsonObject json, String field, Map<String, String> environment) {
        List<String> expanded = new ArrayList<>();
        int length = 0;
        for (String text : json.array(field).strings().toList()) {
            String word = Expansion.expand(text, environment);
            length = Expansion.counted(length, word, "the words of " + field);
            expanded.add(word);
        }
        return expanded;
    }

    private static List<ContainerConfig.Mount> mounts(Pod pod, ContainerSpec container, Inputs inputs) {
        List<ContainerConfig.Mount> mounts = new ArrayList<>();
        container
                .json()
                .array("volumeMounts")
                .objects()
                .forEach(mount -> mounts.add(mount(pod, mount, mounts.size(), inputs)));
        mounts.addAll(0, inputs.own().devices().mounts());
        boolean hasHosts =
                mounts.stream().anyMatch(mount -> mount.containerPath().equals(HOSTS));
        // On the host's network the runtime mounts the host's own file, unless the pod has aliases.
        boolean own = !pod.hostNetwork() || pod.spec().has("hostAliases");
        if (own && !hasHosts) {
            mounts.add(new ContainerConfig.Mount(
                    HOSTS, inputs.hostsFile().toString(), false, ContainerConfig.Propagation.PRIVATE));
        }
        mounts.add(new ContainerConfig.Mount(
                messagePath(container),
                inputs.terminationLog().toString(),
                false,
                ContainerConfig.Propagation.PRIVATE));
        return mounts;
    }

    private static String messagePath(ContainerSpec container) {
        String path = container.terminationMessagePath();
        int bytes = path.getBytes(StandardCharsets.UTF_8).length;
        if (bytes > LONGEST_PATH) {
            throw new ContainerConfigException(
                    "terminationMessagePath must have at most " + LONGEST_PATH + " bytes, got " + bytes);
        }
        return path;
    }

    private static ContainerConfig.Mount mount(Pod pod, JsonObject mount, int number, Inputs inputs) {
        String name = mount.text("name");
        Path path = hasSubPath(mount)
                ? inputs.subPaths().get(number)
                : inputs.volumes().get(name);
        if (path == null) {
            throw new ContainerConfigException("the pod has no volume \"" + name + "\"");
        }
        String at = mount.text("mountPath");
        return new ContainerConfig.Mount(
                at.startsWith("/") ? at : "/" + at,
                path.toString(),
                mount.bool("readOnly") || isReadOnly(pod, name),
                switch (mount.text("mountPropagation")) {
                    case "HostToContainer" -> ContainerConfig.Propagation.HOST_TO_CONTAINER;
                    case "Bidirectional" -> ContainerConfig.Propagation.BIDIRECTIONAL;
                    default -> ContainerConfig.Propagation.PRIVATE;
                });
    }

    /** Whether only the node writes the volume, or the pod says that it only reads it. */
    private static boolean isReadOnly(Pod pod, String volume) {
        return pod.spec()
                .array("volumes")
                .objects()
                .filter(each -> each.text("name").equals(volume))
                .anyMatch(each -> VolumeKind.of(each)
                        .filter(kind -> kind.isFromApi()
                                || (kind.isPersistent()
                                        && each.object(kind.field()).bool("readOnly")))
                        .isPresent());
    }
}
