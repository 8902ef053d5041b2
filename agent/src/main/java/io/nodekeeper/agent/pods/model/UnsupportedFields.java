package io.nodekeeper.agent.pods.model;

import io.nodekeeper.agent.status.ResourceList;
import io.nodekeeper.api.json.JsonObject;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * Finds the fields of a pod that ask for something that this agent does not do yet. Such a pod is refused by the name of
 * the field; it is never run without what it asks for.
 */
public final class UnsupportedFields {
    /** Fields of the pod's spec. */
    private static final List<String> POD = List.of("activeDeadlineSeconds", "resourceClaims");
    /** Fields of each container. */
    private static final List<String> CONTAINER = List.of("volumeDevices", "restartPolicyRules");
    /** The hooks of a container. */
    private static final Set<String> HOOKS = Set.of("postStart", "preStop");
    /** The resources that this agent limits or counts, besides extended ones and huge pages. */
    private static final Set<String> RESOURCES = Set.of("cpu", "memory", "ephemeral-storage");
    /** The media of {@code emptyDir}: the node's disk, memory, and huge pages, of which a size may follow. */
    private static final Pattern MEDIA = Pattern.compile("|Memory|HugePages(-.+)?");
    /** The sources of {@code projected} volumes. */
    private static final Set<String> PROJECTIONS = Set.of("configMap", "secret", "downwardAPI", "serviceAccountToken");

    private UnsupportedFields() {}

    /** The first such field as a path, for example {@code spec.resourceClaims}; empty if there is none. */
    public static Optional<String> first(Pod pod) {
        List<String> found = new ArrayList<>();
        JsonObject spec = pod.spec();
        POD.stream().filter(spec::has).map("spec."::concat).forEach(found::add);
        // Without effect, all its containers would have no limit but their own.
        if (!spec.object("resources").fields().isEmpty()) {
            found.add("spec.resources");
        }
        if (spec.has("hostUsers") && !spec.bool("hostUsers")) {
            found.add("spec.hostUsers");
        }
        if (spec.bool("setHostnameAsFQDN")) {
            found.add("spec.setHostnameAsFQDN");
        }
        windows("spec.securityContext", spec, found);
        volumes(spec, found);
        for (ContainerSpec container : pod.initContainers()) {
            String path = "spec.initContainers[" + container.name() + "]";
            container(path, container.json(), found);
            if (container.json().has("restartPolicy") && !container.isSidecar()) {
                found.add(path + ".restartPolicy");
            }
        }
        for (ContainerSpec container : pod.containers()) {
            String path = "spec.containers[" + container.name() + "]";
            container(path, container.json(), found);
            if (container.json().has("restartPolicy")) {
                found.add(path + ".restartPolicy");
            }
        }
        return found.stream().findFirst();
    }

    /** As {@link #first(Pod)}, for an ephemeral container; the rest of its pod runs on. */
    public static Optional<String> first(ContainerSpec ephemeral) {
        List<String> found = new ArrayList<>();
        container("spec.ephemeralContainers[" + ephemeral.name() + "]", ephemeral.json(), found);
        return found.stream().findFirst();
    }

    private static void volumes(JsonObject spec, List<String> found) {
        spec.array("volumes").objects().forEach(volume -> {
            String path = "spec.volumes[" + volume.text("name") + "]";
            VolumeKind.of(volume)
                    .ifPresentOrElse(
                            kind -> volume(path + "." + kind.field(), kind, volume.object(kind.field()), found),
                            () -> found.add(path + "." + VolumeKind.name(volume)));
        });
    }

    private static void volume(String path, VolumeKind kind, JsonObject source, List<String> found) {
        if (kind == VolumeKind.EMPTY_DIR
                && !MEDIA.matcher(source.text("medium")).matches()) {
            found.add(path + ".medium");
        }
        if (kind == VolumeKind.PROJECTED) {
            source.array("sources")
                    .objects()
                    .forEach(part -> part.fields().keySet().stream()
                            .filter(field -> part.has(field) && !PROJECTIONS.contains(field))
                            .map(field -> path + ".sources." + field)
                            .forEach(found::add));
        }
    }

    private static void container(String path, JsonObject container, List<String> found) {
        CONTAINER.stream()
                .filter(container::has)
                .map(field -> path + "." + field)
                .forEach(found::add);
        actions(path, container, found);
        windows(path + ".securityContext", container, found);
        for (String kind : List.of("requests", "limits")) {
            container.object("resources").object(kind).fields().keySet().stream()
                    .filter(resource -> !RESOURCES.contains(resource)
                            && !ResourceList.extended(resource)
                            && !ResourceList.hugePages(resource))
                    .map(resource -> path + ".resources." + kind + "[" + resource + "]")
                    .forEach(found::add);
        }
        container.array("volumeMounts").objects().forEach(mount -> {
            if (mount.has("recursiveReadOnly")
                    && !mount.text("recursiveReadOnly").equals("Disabled")) {
                found.add(path + ".volumeMounts[" + mount.text("mountPath") + "].recursiveReadOnly");
            }
        });
    }

    /** Probes and hooks whose action is not known, and those that Kubernetes accepts and never runs. */
    private static void actions(String path, JsonObject container, List<String> found) {
        for (ProbeKind kind : ProbeKind.values()) {
            JsonObject probe = container.object(kind.field());
            if (container.has(kind.field()) && (Action.of(probe).isEmpty() || probe.has("sleep"))) {
                found.add(path + "." + kind.field());
            }
        }
        JsonObject lifecycle = container.object("lifecycle");
        lifecycle.fields().keySet().forEach(name -> {
            JsonObject hook = lifecycle.object(name);
            boolean known = HOOKS.contains(name) && Action.of(hook).isPresent();
            if (!known || hook.has("tcpSocket") || hook.has("grpc")) {
                found.add(path + ".lifecycle." + name);
            }
        });
    }

    private static void windows(String path, JsonObject holder, List<String> found) {
        if (holder.object("securityContext").has("windowsOptions")) {
            found.add(path + ".windowsOptions");
        }
    }
}
