package io.nodekeeper.agent.pods;

import io.nodekeeper.agent.pods.model.Pod;
import io.nodekeeper.api.Quantity;
import java.util.function.ToLongFunction;

/** What pods request of a node, in the kubelet's units. */
enum Resource {
    /** The number of pods. */
    PODS("pods", pod -> 1, Quantity::toLong),
    /** Thousandths of a processor. */
    CPU("cpu", pod -> pod.request("cpu").toMillis(), Quantity::toMillis),
    /** Bytes. */
    MEMORY("memory", pod -> pod.request("memory").toLong(), Quantity::toLong),
    /** Bytes. */
    EPHEMERAL_STORAGE(
            "ephemeral-storage", pod -> pod.request("ephemeral-storage").toLong(), Quantity::toLong);

    private final String text;
    private final ToLongFunction<Pod> request;
    private final ToLongFunction<Quantity> unit;

    Resource(String text, ToLongFunction<Pod> request, ToLongFunction<Quantity> unit) {
        this.text = text;
        this.request = request;
        this.unit = unit;
    }

    /** Kubernetes' name. */
    String text() {
        return text;
    }

    /** What {@code pod} requests. */
    long of(Pod pod) {
        return request.applyAsLong(pod);
    }

    /** The amount as a number. */
    long number(Quantity amount) {
        return unit.applyAsLong(amount);
    }
}
