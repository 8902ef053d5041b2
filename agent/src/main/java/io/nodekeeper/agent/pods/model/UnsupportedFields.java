package io.nodekeeper.agent.pods.model;

import io.nodekeeper.api.json.JsonObject;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * Finds the fields of a pod that ask for something that this agent does not do yet. Such a pod is refused by the name of
 * the field; it is never run without what it asks for.
 */
public final class UnsupportedFields {
    /** Fields of the pod's spec. */
    private static final List<String> POD =
            List.of("initContainers", "runtimeClassName", "resourceClaims", "readinessGates", "overhead");
    /** Fields of each container. */
    private static final List<String> CONTAINER =
            List.of("livenessProbe", "readinessProbe", "startupProbe", "lifecycle", "volumeDevices");
    /** Fields of a security context. */
    private static final List<String> SECURITY =
            List.of("seLinuxOptions", "appArmorProfile", "windowsOptions", "sysctls");
    /** The resources that this agent limits or counts. */
    private static final Set<String> RESOURCES = Set.of("cpu", "memory", "ephemeral-storage");

    private UnsupportedFields() {}

    /** The first such field as a path, for example {@code spec.initContainers}; empty if there is none. */
    public static Optional<String> first(Pod pod) {
        List<String> found = new ArrayList<>();
        JsonObject spec = pod.spec();
        POD.stream().filter(spec::has).map("spec."::concat).forEach(found::add);
        if (spec.has("hostUsers") && !spec.bool("hostUsers")) {
            found.add("spec.hostUsers");
        }
        security("spec.securityContext", spec.object("securityContext"), found);
        volumes(spec, found);
        for (ContainerSpec container : pod.containers()) {
            container("spec.containers[" + container.name() + "]", container.json(), found);
        }
        return found.stream().findFirst();
    }

    private static void volumes(JsonObject spec, List<String> found) {
        spec.array("volumes").objects().forEach(volume -> {
            String path = "spec.volumes[" + volume.text("name") + "]";
            VolumeKind.of(volume)
                    .ifPresentOrElse(
                            kind -> {
                                if (kind == VolumeKind.EMPTY_DIR
                                        && !volume.object("emptyDir")
                                                .text("medium")
                                                .isEmpty()) {
                                    found.add(path + ".emptyDir.medium");
                                }
                            },
                            () -> found.add(path + "." + VolumeKind.name(volume)));
        });
    }

    private static void container(String path, JsonObject container, List<String> found) {
        CONTAINER.stream()
                .filter(container::has)
                .map(field -> path + "." + field)
                .forEach(found::add);
        security(path + ".securityContext", container.object("securityContext"), found);
        for (String kind : List.of("requests", "limits")) {
            container.object("resources").object(kind).fields().keySet().stream()
                    .filter(resource -> !RESOURCES.contains(resource))
                    .map(resource -> path + ".resources." + kind + "[" + resource + "]")
                    .forEach(found::add);
        }
        container.array("volumeMounts").objects().forEach(mount -> {
            for (String field : List.of("subPath", "subPathExpr", "recursiveReadOnly")) {
                if (mount.has(field)) {
                    found.add(path + ".volumeMounts[" + mount.text("mountPath") + "]." + field);
                }
            }
        });
    }

    private static void security(String path, JsonObject context, List<String> found) {
        SECURITY.stream().filter(context::has).map(field -> path + "." + field).forEach(found::add);
        if (context.object("seccompProfile").text("type").equals("Localhost")) {
            found.add(path + ".seccompProfile.localhostProfile");
        }
        if (context.text("procMount").equals("Unmasked")) {
            found.add(path + ".procMount");
        }
        if (context.text("supplementalGroupsPolicy").equals("Strict")) {
            found.add(path + ".supplementalGroupsPolicy");
        }
    }
}
