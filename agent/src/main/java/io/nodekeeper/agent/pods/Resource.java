package io.nodekeeper.agent.pods;

import io.nodekeeper.agent.pods.model.Pod;
import io.nodekeeper.api.Quantity;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.ToLongFunction;
import java.util.stream.Stream;

/** What pods request of a node, in the kubelet's units. Immutable; two of the same name are not equal. */
final class Resource {
    /** The number of pods. */
    static final Resource PODS = new Resource("pods", pod -> 1, Quantity::toLong);
    /** Thousandths of a processor. */
    static final Resource CPU = new Resource("cpu", pod -> pod.request("cpu").toMillis(), Quantity::toMillis);
    /** Bytes. */
    static final Resource MEMORY = counted("memory");
    /** Bytes. */
    static final Resource EPHEMERAL_STORAGE = counted("ephemeral-storage");

    private static final List<Resource> USUAL = List.of(PODS, CPU, MEMORY, EPHEMERAL_STORAGE);

    private final String text;
    private final ToLongFunction<Pod> request;
    private final ToLongFunction<Quantity> unit;

    private Resource(String text, ToLongFunction<Pod> request, ToLongFunction<Quantity> unit) {
        this.text = text;
        this.request = request;
        this.unit = unit;
    }

    private static Resource counted(String text) {
        return new Resource(text, pod -> pod.request(text).toLong(), Quantity::toLong);
    }

    /** All resources that {@code pod} may request: the usual ones, then the others that it names, by name. */
    static List<Resource> of(Pod pod) {
        Set<String> others = new TreeSet<>(pod.requested());
        USUAL.forEach(resource -> others.remove(resource.text));
        return Stream.concat(USUAL.stream(), others.stream().map(Resource::counted))
                .toList();
    }

    /** Kubernetes' name. */
    String text() {
        return text;
    }

    /** What {@code pod} requests. */
    long amount(Pod pod) {
        return request.applyAsLong(pod);
    }

    /** The amount as a number. */
    long number(Quantity amount) {
        return unit.applyAsLong(amount);
    }
}
