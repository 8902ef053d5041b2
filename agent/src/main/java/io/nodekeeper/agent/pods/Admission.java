package io.nodekeeper.agent.pods;

import io.nodekeeper.agent.eviction.Pressure;
import io.nodekeeper.agent.pods.model.Pod;
import io.nodekeeper.agent.pods.sync.Wanted;
import io.nodekeeper.api.QosClass;
import io.nodekeeper.api.Quantity;
import io.nodekeeper.api.json.JsonObject;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.ToLongFunction;
import java.util.stream.Collectors;

/**
 * Whether the node takes one more pod, with a kubelet's reasons. While it is under pressure it takes only critical pods, and under
 * memory pressure alone those that request something or tolerate it. It takes each static pod. What other pods request must fit into what is allocatable; a
 * resource whose amount is not known limits nothing. Immutable.
 *
 * @param maxPods the most pods
 * @param allocatable the Node's {@code status.allocatable}
 * @param pressures the pressures that the node is under
 * @param shuttingDown whether the machine is shut down
 */
record Admission(int maxPods, JsonObject allocatable, Set<Pressure> pressures, boolean shuttingDown) {
    private static final String MEMORY_TAINT = "node.kubernetes.io/memory-pressure";

    /** Why {@code pod} is refused beside {@code active}; empty if it may run. */
    Optional<Wanted.Eviction> refusal(Pod pod, boolean isStatic, List<Pod> active) {
        if (shuttingDown) {
            return Optional.of(
                    new Wanted.Eviction("NodeShutdown", "Pod was rejected as the node is shutting down.", false));
        }
        if (isStatic) {
            // To a kubelet they are critical.
            return Optional.empty();
        }
        if (active.size() >= maxPods) {
            return Optional.of(lacking("pods", 1, active.size(), maxPods));
        }
        return pressure(pod)
                .or(() -> fit(pod, active, "cpu", Quantity::toMillis))
                .or(() -> fit(pod, active, "memory", Quantity::toLong))
                .or(() -> fit(pod, active, "ephemeral-storage", Quantity::toLong));
    }

    private Optional<Wanted.Eviction> pressure(Pod pod) {
        boolean memoryOnly = pressures.equals(Set.of(Pressure.MEMORY));
        boolean tolerated = memoryOnly && (QosClass.of(pod.spec()) != QosClass.BEST_EFFORT || toleratesMemoryPressure(pod));
        if (pressures.isEmpty() || pod.isCritical() || tolerated) {
            return Optional.empty();
        }
        String conditions =
                pressures.stream().sorted().map(Pressure::condition).collect(Collectors.joining(" ", "[", "]"));
        return Optional.of(new Wanted.Eviction("Evicted", "The node had condition: " + conditions + ". ", false));
    }

    private static boolean toleratesMemoryPressure(Pod pod) {
        return pod.spec()
                .array("tolerations")
                .objects()
                .anyMatch(toleration -> covers(toleration.text("key"), MEMORY_TAINT, isExists(toleration))
                        && covers(toleration.text("effect"), "NoSchedule", true)
                        && (isExists(toleration) || toleration.text("value").isEmpty()));
    }

    private static boolean isExists(JsonObject toleration) {
        return toleration.text("operator").equals("Exists");
    }

    /** An empty text stands for all where that is allowed. */
    private static boolean covers(String text, String wanted, boolean emptyIsAll) {
        return text.equals(wanted) || emptyIsAll && text.isEmpty();
    }

    private Optional<Wanted.Eviction> fit(Pod pod, List<Pod> active, String resource, ToLongFunction<Quantity> amount) {
        Optional<Quantity> limit = allocatable.get(resource).flatMap(Quantity::from);
        long requested = amount.applyAsLong(pod.request(resource));
        if (limit.isEmpty() || requested == 0) {
            return Optional.empty();
        }
        long used = active.stream()
                .mapToLong(other -> amount.applyAsLong(other.request(resource)))
                .sum();
        long capacity = amount.applyAsLong(limit.get());
        return used + requested > capacity
                ? Optional.of(lacking(resource, requested, used, capacity))
                : Optional.empty();
    }

    private static Wanted.Eviction lacking(String resource, long requested, long used, long capacity) {
        return new Wanted.Eviction(
                "OutOf" + resource,
                "Node didn't have enough resource: " + resource + ", requested: " + requested + ", used: " + used
                        + ", capacity: " + capacity,
                false);
    }
}
