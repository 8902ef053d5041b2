package io.nodekeeper.agent.pods.sources;

import io.nodekeeper.agent.pods.model.Pod;
import io.nodekeeper.api.json.JsonArray;
import io.nodekeeper.api.json.JsonMemory;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.api.json.JsonValue;
import java.util.List;

/** The parts of a pod that an agent keeps if it cannot, or need not, keep all of it. */
final class PodParts {
    /** What of the spec of a pod, and of its containers, only matters until it has ended. */
    private static final List<String> BEFORE_END =
            List.of("affinity", "tolerations", "topologySpreadConstraints", "hostAliases", "dnsConfig");

    private static final List<String> CONTAINERS = List.of("initContainers", "containers", "ephemeralContainers");
    private static final List<String> CONTAINER_BEFORE_END = List.of(
            "command",
            "args",
            "env",
            "envFrom",
            "volumeMounts",
            "volumeDevices",
            "livenessProbe",
            "readinessProbe",
            "startupProbe");

    private static final List<String> NAMES =
            List.of("name", "namespace", "uid", "resourceVersion", "deletionTimestamp", "deletionGracePeriodSeconds");

    /** The memory, in bytes, from which on a pod that is gone is not kept until its containers have ended. */
    private static final long LARGE = 100_000;

    private PodParts() {}

    /** All that an agent uses. */
    static Pod whole(Pod pod) {
        return new Pod(pod.json().update("metadata", metadata -> metadata.without("managedFields")));
    }

    /** What a pod is ended with that the API does not have any more. Nothing counts it, so it must not be large. */
    static Pod ofGone(Pod pod) {
        return JsonMemory.of(pod.json()) > LARGE ? outline(pod) : pod;
    }

    /** What a pod that has ended is kept with. Such pods stay in the API until they are collected, and may be thousands. */
    static Pod ofEnded(Pod pod) {
        JsonObject spec = without(pod.spec(), BEFORE_END);
        for (String kind : CONTAINERS) {
            if (spec.has(kind)) {
                spec = spec.with(
                        kind,
                        new JsonArray(spec.array(kind)
                                .objects()
                                .<JsonValue>map(container -> without(container, CONTAINER_BEFORE_END))
                                .toList()));
            }
        }
        return new Pod(JsonObject.builder()
                .put("metadata", marked(pod))
                .put("spec", spec)
                .put("status", pod.status())
                .build());
    }

    /** {@code running} with the deletion and the status of {@code pod}, its newer version. */
    static Pod unchanged(Pod running, Pod pod) {
        return new Pod(running.json().with("status", pod.status()).update("metadata", metadata -> {
            JsonObject.Builder newer = metadata.toBuilder();
            NAMES.forEach(name -> pod.metadata().get(name).ifPresent(value -> newer.put(name, value)));
            return newer.build();
        }));
    }

    /** Only what says which pod it is, and whether it has ended; see {@link Pod#isOutline}. A static pod's copy keeps its status. */
    static Pod outline(Pod pod) {
        JsonObject phase = JsonObject.builder().put("phase", pod.phase()).build();
        return new Pod(JsonObject.builder()
                .put("metadata", marked(pod))
                .put("status", pod.isMirror() ? pod.status() : phase)
                .build());
    }

    /** The names in the metadata of {@code pod}, and what marks it as the copy of a static pod. */
    private static JsonObject marked(Pod pod) {
        JsonObject mark = JsonObject.builder()
                .putUnlessEmpty(Pod.CONFIG_MIRROR, pod.annotations().getOrDefault(Pod.CONFIG_MIRROR, ""))
                .build();
        JsonObject.Builder metadata = JsonObject.builder();
        NAMES.forEach(name -> pod.metadata().get(name).ifPresent(value -> metadata.put(name, value)));
        return metadata.put("annotations", mark).build();
    }

    private static JsonObject without(JsonObject object, List<String> fields) {
        JsonObject.Builder less = object.toBuilder();
        fields.forEach(less::remove);
        return less.build();
    }
}
