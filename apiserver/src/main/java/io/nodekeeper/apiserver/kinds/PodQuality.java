package io.nodekeeper.apiserver.kinds;

import io.nodekeeper.api.Quantity;
import io.nodekeeper.api.json.JsonObject;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** Computes a pod's quality of service class from its requests and limits (Kubernetes' rule). */
final class PodQuality {
    private static final List<String> COUNTED = List.of("cpu", "memory");

    private PodQuality() {}

    /**
     * {@code Guaranteed} if each container's limits equal its requests, {@code BestEffort} if no container has requests
     * or limits.
     */
    static String of(JsonObject spec) {
        List<JsonObject> resources = Stream.concat(
                        spec.array("containers").objects(),
                        spec.array("initContainers").objects())
                .map(container -> container.object("resources"))
                .toList();
        boolean nothing = resources.stream()
                .allMatch(resource -> COUNTED.stream()
                        .allMatch(name -> amount(resource, "requests", name).isEmpty()
                                && amount(resource, "limits", name).isEmpty()));
        if (nothing) {
            return "BestEffort";
        }
        boolean all = resources.stream()
                .allMatch(resource -> COUNTED.stream().allMatch(name -> {
                    Optional<Quantity> limit = amount(resource, "limits", name);
                    Optional<Quantity> request = amount(resource, "requests", name);
                    return limit.isPresent() && (request.isEmpty() || request.equals(limit));
                }));
        return all ? "Guaranteed" : "Burstable";
    }

    private static Optional<Quantity> amount(JsonObject resource, String which, String name) {
        return resource.object(which).get(name).flatMap(Quantity::from);
    }
}
