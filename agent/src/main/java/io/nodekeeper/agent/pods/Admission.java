package io.nodekeeper.agent.pods;

import io.nodekeeper.agent.eviction.Pressure;
import io.nodekeeper.agent.pods.model.Pod;
import io.nodekeeper.agent.pods.security.SecurityAdmission;
import io.nodekeeper.agent.pods.sync.Wanted;
import io.nodekeeper.api.Node;
import io.nodekeeper.api.QosClass;
import io.nodekeeper.api.Quantity;
import io.nodekeeper.api.json.JsonObject;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Whether the node takes one more pod, with a kubelet's reasons. While it is under pressure it takes only critical pods, and under
 * memory pressure alone those that request something or tolerate it. What other pods request must fit into what is allocatable; a
 * resource whose amount is not known limits nothing. Critical pods, to which static ones belong, push out others. Immutable.
 *
 * @param maxPods the most pods
 * @param allocatable the Node's {@code status.allocatable}
 * @param node the Node; empty if it is not known
 * @param pressures the pressures that the node is under
 * @param shuttingDown whether the machine is shut down
 * @param security refuses pods because of their security contexts
 */
record Admission(
        int maxPods,
        JsonObject allocatable,
        Optional<Node> node,
        Set<Pressure> pressures,
        boolean shuttingDown,
        SecurityAdmission security) {
    /** Why no pod starts while the machine is shut down. */
    static final Wanted.Eviction SHUTDOWN =
            new Wanted.Eviction("NodeShutdown", "Pod was rejected as the node is shutting down.", false);

    /** Why a pod does not start of which only an outline is kept. */
    static final Wanted.Eviction TOO_LARGE = new Wanted.Eviction(
            "OutOfAgentMemory",
            "The pod is too large for what the pods of this node may take of its agent's memory.",
            false);

    private static final String MEMORY_TAINT = "node.kubernetes.io/memory-pressure";

    /** What happens to a pod. */
    sealed interface Verdict {
        /** It starts. */
        record Admitted() implements Verdict {}

        /** It never starts. */
        record Refused(Wanted.Eviction why) implements Verdict {}

        /** It starts once {@code victims} have ended, of which there is at least one. */
        record Preempts(List<Pod> victims) implements Verdict {}
    }

    /**
     * The verdict on {@code pod}.
     *
     * @param active the pods that run or will run
     * @param endable those of them that the node may end, which static pods are not
     */
    Verdict judge(Pod pod, boolean isStatic, List<Pod> active, List<Pod> endable) {
        if (shuttingDown) {
            return new Verdict.Refused(SHUTDOWN);
        }
        boolean critical = isStatic || pod.isCritical();
        Optional<Wanted.Eviction> pressed = critical ? Optional.empty() : pressure(pod);
        Optional<Wanted.Eviction> never = pressed.or(() -> security.refusal(pod));
        if (never.isPresent()) {
            return new Verdict.Refused(never.get());
        }
        Optional<Wanted.Eviction> unfit = NodeFit.refusal(pod, isStatic, node, active);
        Map<Resource, Long> missing = missing(pod, active);
        // Of several reasons a kubelet shows a shortage first, unless the pod may push out others.
        if (unfit.isPresent() && (critical || missing.isEmpty())) {
            return new Verdict.Refused(unfit.get());
        }
        if (missing.isEmpty()) {
            return new Verdict.Admitted();
        }
        if (!critical) {
            return new Verdict.Refused(lacking(pod, missing.keySet().iterator().next(), active));
        }
        List<Pod> lesser = endable.stream()
                .filter(other -> !other.isCritical() || other.priority() < pod.priority())
                .toList();
        return Preemption.choose(missing, lesser)
                .<Verdict>map(Verdict.Preempts::new)
                .orElseGet(() -> new Verdict.Refused(Preemption.impossible(missing, lesser)));
    }

    private Optional<Wanted.Eviction> pressure(Pod pod) {
        boolean memoryOnly = pressures.equals(Set.of(Pressure.MEMORY));
        boolean tolerated =
                memoryOnly && (QosClass.of(pod.spec()) != QosClass.BEST_EFFORT || toleratesMemoryPressure(pod));
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

    /** How much is missing of each resource of which there is too little, in the kubelet's order. */
    private Map<Resource, Long> missing(Pod pod, List<Pod> active) {
        Map<Resource, Long> missing = new LinkedHashMap<>();
        for (Resource resource : Resource.of(pod)) {
            OptionalLong capacity = capacity(resource);
            if (capacity.isEmpty()) {
                // A pod may name thousands of resources, and each amount is a sum over all of its containers.
                continue;
            }
            long requested = resource.amount(pod);
            if (requested > 0) {
                long beyond = used(resource, active) + requested - capacity.getAsLong();
                if (beyond > 0) {
                    missing.put(resource, beyond);
                }
            }
        }
        return missing;
    }

    private OptionalLong capacity(Resource resource) {
        if (resource == Resource.PODS) {
            return OptionalLong.of(maxPods);
        }
        return allocatable
                .get(resource.text())
                .flatMap(Quantity::from)
                .map(amount -> OptionalLong.of(resource.number(amount)))
                .orElseGet(OptionalLong::empty);
    }

    private static long used(Resource resource, List<Pod> active) {
        return active.stream().mapToLong(resource::amount).sum();
    }

    private Wanted.Eviction lacking(Pod pod, Resource resource, List<Pod> active) {
        return new Wanted.Eviction(
                "OutOf" + resource.text(),
                "Node didn't have enough resource: " + resource.text() + ", requested: " + resource.amount(pod)
                        + ", used: " + used(resource, active) + ", capacity: "
                        + capacity(resource).orElse(0),
                false);
    }
}
