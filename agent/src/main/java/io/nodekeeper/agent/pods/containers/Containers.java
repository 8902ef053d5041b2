package io.nodekeeper.agent.pods.containers;

import io.nodekeeper.agent.pods.model.ContainerSpec;
import io.nodekeeper.agent.pods.model.Pod;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.cri.Image;
import io.nodekeeper.cri.config.ContainerConfig;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Translates a container of a pod to the runtime's configuration, as a kubelet 1.32 does. */
public final class Containers {
    private static final String HOSTS = "/etc/hosts";

    private Containers() {}

    /**
     * What a container's configuration needs besides its pod. Immutable.
     *
     * @param image the image as the node has it
     * @param references what its environment refers to
     * @param podIps the addresses of the pod
     * @param volumes the path on the node of each volume, by its name
     * @param hostsFile the pod's {@code /etc/hosts} on the node
     */
    public record Inputs(
            NodeSettings node,
            Image image,
            References references,
            List<String> podIps,
            Map<String, Path> volumes,
            Path hostsFile) {
        /** Keeps copies. */
        public Inputs {
            podIps = List.copyOf(podIps);
            volumes = Map.copyOf(volumes);
        }
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
                environment,
                mounts(pod, json, inputs),
                PodLabels.container(pod, container),
                PodLabels.annotations(pod, container, attempt),
                PodLabels.logPath(container.name(), attempt),
                new ContainerConfig.Terminal(json.bool("stdin"), json.bool("stdinOnce"), json.bool("tty")),
                Limits.of(pod, container, inputs.node()),
                Rights.of(pod, container, inputs.image()));
    }

    private static List<String> expanded(JsonObject json, String field, Map<String, String> environment) {
        return json.array(field)
                .strings()
                .map(text -> Expansion.expand(text, environment))
                .toList();
    }

    private static List<ContainerConfig.Mount> mounts(Pod pod, JsonObject json, Inputs inputs) {
        List<ContainerConfig.Mount> mounts = new ArrayList<>();
        json.array("volumeMounts").objects().forEach(mount -> mounts.add(mount(mount, inputs)));
        boolean hasHosts =
                mounts.stream().anyMatch(mount -> mount.containerPath().equals(HOSTS));
        // On the host's network the runtime mounts the host's own file, unless the pod has aliases.
        boolean own = !pod.hostNetwork() || pod.spec().has("hostAliases");
        if (own && !hasHosts) {
            mounts.add(new ContainerConfig.Mount(
                    HOSTS, inputs.hostsFile().toString(), false, ContainerConfig.Propagation.PRIVATE));
        }
        return mounts;
    }

    private static ContainerConfig.Mount mount(JsonObject mount, Inputs inputs) {
        String name = mount.text("name");
        Path path = inputs.volumes().get(name);
        if (path == null) {
            throw new ContainerConfigException("the pod has no volume \"" + name + "\"");
        }
        String at = mount.text("mountPath");
        return new ContainerConfig.Mount(
                at.startsWith("/") ? at : "/" + at,
                path.toString(),
                mount.bool("readOnly"),
                switch (mount.text("mountPropagation")) {
                    case "HostToContainer" -> ContainerConfig.Propagation.HOST_TO_CONTAINER;
                    case "Bidirectional" -> ContainerConfig.Propagation.BIDIRECTIONAL;
                    default -> ContainerConfig.Propagation.PRIVATE;
                });
    }
}
