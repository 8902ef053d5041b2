package io.nodekeeper.agent.pods.model;

import io.nodekeeper.api.Quantity;
import java.util.List;
import java.util.Optional;

/** Kubernetes' classes of service, by what a pod requests of processor and memory. */
public enum Qos {
    /** Every container, init containers included, has limits for both, and requests that much. */
    GUARANTEED("Guaranteed"),
    /** Some container requests or limits something. */
    BURSTABLE("Burstable"),
    /** No container requests or limits anything. */
    BEST_EFFORT("BestEffort");

    private static final List<String> COMPUTE = List.of("cpu", "memory");

    private final String text;

    Qos(String text) {
        this.text = text;
    }

    /** Its name in {@code status.qosClass}. */
    public String text() {
        return text;
    }

    /** The class of {@code pod}. */
    public static Qos of(Pod pod) {
        boolean any = false;
        boolean all = true;
        for (ContainerSpec container : pod.allContainers()) {
            for (String resource : COMPUTE) {
                Optional<Quantity> limit = container.limit(resource).filter(amount -> !amount.isZero());
                Optional<Quantity> request = container.request(resource).filter(amount -> !amount.isZero());
                any |= limit.isPresent() || request.isPresent();
                all &= limit.isPresent() && limit.equals(request);
            }
        }
        return !any ? BEST_EFFORT : all ? GUARANTEED : BURSTABLE;
    }
}
