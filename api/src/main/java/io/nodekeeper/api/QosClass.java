package io.nodekeeper.api;

import io.nodekeeper.api.json.JsonObject;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** Kubernetes' quality of service classes, by what a pod requests of processor and memory. */
public enum QosClass {
    /** Every container, init containers included, has limits for both, and requests that much. */
    GUARANTEED("Guaranteed"),
    /** Some container requests or limits something. */
    BURSTABLE("Burstable"),
    /** No container requests or limits anything. */
    BEST_EFFORT("BestEffort");

    private static final List<String> COUNTED = List.of("cpu", "memory");

    private final String text;

    QosClass(String text) {
        this.text = text;
    }

    /** Its name in {@code status.qosClass}. */
    public String text() {
        return text;
    }

    /** The class of a pod with this {@code spec}. An amount of zero counts as none; a request defaults to the limit. */
    public static QosClass of(JsonObject spec) {
        List<JsonObject> containers = Stream.concat(
                        spec.array("containers").objects(),
                        spec.array("initContainers").objects())
                .map(container -> container.object("resources"))
                .toList();
        boolean any = false;
        boolean all = true;
        for (JsonObject resources : containers) {
            for (String name : COUNTED) {
                Optional<Quantity> limit = amount(resources, "limits", name);
                Optional<Quantity> request =
                        resources.object("requests").has(name) ? amount(resources, "requests", name) : limit;
                any |= limit.isPresent() || request.isPresent();
                all &= limit.isPresent() && limit.equals(request);
            }
        }
        return !any ? BEST_EFFORT : all ? GUARANTEED : BURSTABLE;
    }

    private static Optional<Quantity> amount(JsonObject resources, String kind, String name) {
        return resources.object(kind).get(name).flatMap(Quantity::from).filter(amount -> !amount.isZero());
    }
}
