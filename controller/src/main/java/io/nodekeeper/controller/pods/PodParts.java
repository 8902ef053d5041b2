package io.nodekeeper.controller.pods;

import io.nodekeeper.api.Condition;
import io.nodekeeper.api.Toleration;
import io.nodekeeper.api.json.JsonArray;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.api.json.JsonValue;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/**
 * The parts of a Pod that this package reads: a few kilobytes at most, although who may create pods can give one a hundred thousand
 * tolerations. Pure.
 */
final class PodParts {
    /**
     * The most tolerations that are kept of a pod; if it has more, it is read again when they matter. Kubernetes does not limit their
     * number, but few pods have more than the ten of DaemonSets, of which two matter.
     */
    static final int TOLERATIONS = 16;

    /** More of one type than a server stores. */
    private static final int CONDITIONS = 4;

    private PodParts() {}

    /** The parts, with the first few tolerations. */
    static JsonObject of(JsonObject pod) {
        return parts(pod, tolerations(pod));
    }

    /** The parts, with all tolerations that matter for {@code taints}: at most one for each of them. */
    static JsonObject of(JsonObject pod, List<ActiveTaint> taints) {
        List<Toleration> all = deciding(pod).toList();
        TolerationIndex index = TolerationIndex.of(all);
        Set<Toleration> used = Collections.newSetFromMap(new IdentityHashMap<>());
        taints.forEach(taint -> index.firstFor(taint).ifPresent(used::add));
        return parts(pod, all.stream().filter(used::contains).toList());
    }

    /**
     * The tolerations of a pod that may be the first to match a NoExecute taint, in their order: the first {@link #TOLERATIONS}, and one
     * more if there are more.
     */
    static List<Toleration> tolerations(JsonObject pod) {
        return deciding(pod).limit(TOLERATIONS + 1).toList();
    }

    /** As {@link #tolerations}, all of them. */
    static List<Toleration> allTolerations(JsonObject pod) {
        return deciding(pod).toList();
    }

    /** Whether the Pod has finished. */
    static boolean isFinished(JsonObject pod) {
        String phase = pod.object("status").text("phase");
        return phase.equals("Succeeded") || phase.equals("Failed");
    }

    private static Stream<Toleration> deciding(JsonObject pod) {
        TolerationIndex index = new TolerationIndex();
        return pod.object("spec")
                .array("tolerations")
                .objects()
                .map(Toleration::of)
                .filter(index::add);
    }

    private static JsonObject parts(JsonObject pod, List<Toleration> tolerations) {
        JsonObject spec = pod.object("spec");
        JsonObject status = pod.object("status");
        return JsonObject.builder()
                .put(
                        "metadata",
                        fields(
                                pod.object("metadata"),
                                "namespace",
                                "name",
                                "uid",
                                "resourceVersion",
                                "creationTimestamp",
                                "deletionTimestamp"))
                .put("spec", fields(spec, "nodeName").with("tolerations", json(tolerations)))
                .put("status", fields(status, "phase", "reason").with("conditions", conditions(status)))
                .build();
    }

    /** The fields of these names that are texts. */
    private static JsonObject fields(JsonObject object, String... names) {
        JsonObject.Builder fields = JsonObject.builder();
        for (String name : names) {
            fields.putUnlessEmpty(name, object.text(name));
        }
        return fields.build();
    }

    private static JsonArray json(List<Toleration> tolerations) {
        return new JsonArray(tolerations.stream().<JsonValue>map(PodParts::json).toList());
    }

    private static JsonObject json(Toleration toleration) {
        JsonObject.Builder json = JsonObject.builder()
                .putUnlessEmpty("key", toleration.key())
                .putUnlessEmpty("operator", toleration.operator())
                .putUnlessEmpty("value", toleration.value())
                .putUnlessEmpty("effect", toleration.effect());
        Optional<Long> seconds = toleration.seconds();
        return seconds.isPresent()
                ? json.put("tolerationSeconds", seconds.get()).build()
                : json.build();
    }

    private static JsonArray conditions(JsonObject status) {
        return new JsonArray(status.array("conditions")
                .objects()
                .filter(condition -> condition.text("type").equals(Condition.READY)
                        || condition.text("type").equals(PodWrites.DISRUPTION_TARGET))
                .limit(CONDITIONS)
                .<JsonValue>map(condition -> fields(condition, "type", "status", "reason", "lastTransitionTime"))
                .toList());
    }
}
