package io.nodekeeper.apiserver.pods;

import io.nodekeeper.api.Quantity;
import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonArray;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.api.json.JsonValue;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Stream;

/** Kubernetes' admission plugin RuntimeClass: sets a new pod's overhead and scheduling from its RuntimeClass. */
public final class RuntimeClassAdmission {
    private RuntimeClassAdmission() {}

    /**
     * Returns the new pod with the overhead, node selector and tolerations of its class.
     *
     * @param classes finds a RuntimeClass by name
     * @throws io.nodekeeper.api.ApiException 403 if the class does not exist, or the pod contradicts it
     */
    public static JsonObject admit(JsonObject pod, Function<String, Optional<JsonObject>> classes) {
        JsonObject spec = pod.object("spec");
        String name = spec.text("runtimeClassName");
        JsonObject runtimeClass = name.isEmpty()
                ? JsonObject.EMPTY
                : classes.apply(name)
                        .orElseThrow(() -> PodRefusal.of(pod, "pod rejected: RuntimeClass \"" + name + "\" not found"));
        JsonObject overhead = spec.object("overhead");
        if (runtimeClass.has("overhead")) {
            JsonObject fixed = runtimeClass.object("overhead").object("podFixed");
            if (!overhead.isEmpty() && !equal(overhead, fixed)) {
                throw PodRefusal.of(pod, "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead");
            }
            spec = fixed.isEmpty() ? spec.without("overhead") : spec.with("overhead", fixed);
        } else if (!overhead.isEmpty()) {
            throw PodRefusal.of(
                    pod, "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead");
        }
        JsonObject scheduling = runtimeClass.object("scheduling");
        return pod.with("spec", tolerating(selecting(pod, spec, scheduling), scheduling));
    }

    /** Whether both have the same resources in equal amounts; 1 and 1000m are equal. */
    private static boolean equal(JsonObject one, JsonObject other) {
        return one.fields().keySet().equals(other.fields().keySet())
                && one.fields().entrySet().stream()
                        .allMatch(entry -> Quantity.from(entry.getValue())
                                .equals(other.get(entry.getKey()).flatMap(Quantity::from)));
    }

    private static JsonObject selecting(JsonObject pod, JsonObject spec, JsonObject scheduling) {
        Map<String, String> wanted = scheduling.object("nodeSelector").texts();
        if (wanted.isEmpty()) {
            return spec;
        }
        JsonObject own = spec.object("nodeSelector");
        JsonObject.Builder all = own.toBuilder();
        wanted.forEach((key, value) -> {
            if (own.has(key) && !own.text(key).equals(value)) {
                throw PodRefusal.of(
                        pod,
                        "conflict: runtimeClass.scheduling.nodeSelector[" + key + "] = " + value
                                + "; pod.spec.nodeSelector[" + key + "] = " + own.text(key));
            }
            all.put(key, value);
        });
        return spec.with("nodeSelector", all.build());
    }

    private static JsonObject tolerating(JsonObject spec, JsonObject scheduling) {
        if (scheduling.array("tolerations").isEmpty()) {
            return spec;
        }
        Map<String, JsonValue> all = new LinkedHashMap<>();
        Stream.of(spec, scheduling)
                .flatMap(list -> list.array("tolerations").items().stream())
                .forEach(toleration -> all.putIfAbsent(Json.identity(toleration), toleration));
        return spec.with("tolerations", new JsonArray(List.copyOf(all.values())));
    }
}
