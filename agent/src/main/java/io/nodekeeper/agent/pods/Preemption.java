package io.nodekeeper.agent.pods;

import io.nodekeeper.agent.pods.model.Pod;
import io.nodekeeper.agent.pods.sync.Wanted;
import io.nodekeeper.api.QosClass;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * Which pods end so that a critical one has room, as a kubelet chooses them: as few guaranteed ones as possible, then burstable
 * ones, and of each class those whose requests are nearest to what is missing. Pure.
 */
final class Preemption {
    /** Why the others end. */
    static final Wanted.Eviction REASON =
            new Wanted.Eviction("Preempting", "Preempted in order to admit critical pod", true);

    private Preemption() {}

    /**
     * The pods to end; empty if there are not enough.
     *
     * @param missing how much more must be free: by resource, in its smallest unit
     * @param others the pods that may end
     */
    static Optional<List<Pod>> choose(Map<Resource, Long> missing, List<Pod> others) {
        List<List<Pod>> classes = Arrays.stream(QosClass.values())
                .sorted(Comparator.reverseOrder())
                .map(qos -> others.stream()
                        .filter(pod -> QosClass.of(pod.spec()) == qos)
                        .toList())
                .toList();
        List<Pod> bestEffort = classes.get(0);
        List<Pod> burstable = classes.get(1);
        if (!without(missing, others).isEmpty()) {
            return Optional.empty();
        }
        List<Pod> guaranteed = nearest(classes.get(2), without(missing, both(bestEffort, burstable)));
        List<Pod> bursting = nearest(burstable, without(missing, both(bestEffort, guaranteed)));
        List<Pod> best = nearest(bestEffort, without(missing, both(bursting, guaranteed)));
        return Optional.of(both(best, both(bursting, guaranteed)));
    }

    /** The kubelet's error when there are not enough pods to end. */
    static Wanted.Eviction impossible(Map<Resource, Long> missing, List<Pod> others) {
        String left = without(missing, others).entrySet().stream()
                .map(entry -> "(res: " + entry.getKey().text() + ", q: " + entry.getValue() + "), ")
                .collect(Collectors.joining("", "[", "]"));
        return new Wanted.Eviction(
                "UnexpectedAdmissionError",
                "Unexpected error while attempting to recover from admission failure: preemption: error finding a set of"
                        + " pods to preempt: no set of running pods found to reclaim resources: " + left,
                false);
    }

    private static List<Pod> both(List<Pod> some, List<Pod> more) {
        List<Pod> all = new ArrayList<>(some);
        all.addAll(more);
        return List.copyOf(all);
    }

    private static Map<Resource, Long> without(Map<Resource, Long> missing, List<Pod> pods) {
        Map<Resource, Long> left = new LinkedHashMap<>();
        missing.forEach((resource, amount) -> {
            long rest = amount - pods.stream().mapToLong(resource::amount).sum();
            if (rest > 0) {
                left.put(resource, rest);
            }
        });
        return left;
    }

    private static List<Pod> nearest(List<Pod> pods, Map<Resource, Long> missing) {
        List<Pod> left = new ArrayList<>(pods);
        List<Pod> chosen = new ArrayList<>();
        Map<Resource, Long> rest = missing;
        while (!rest.isEmpty() && !left.isEmpty()) {
            Map<Resource, Long> now = rest;
            Pod best = left.stream()
                    .min(Comparator.comparingDouble((Pod pod) -> distance(pod, now))
                            .thenComparing(Resource.MEMORY::amount)
                            .thenComparing(Resource.CPU::amount))
                    .orElseThrow();
            left.remove(best);
            chosen.add(best);
            rest = without(rest, List.of(best));
        }
        return chosen;
    }

    private static double distance(Pod pod, Map<Resource, Long> missing) {
        return missing.entrySet().stream()
                .mapToDouble(entry -> {
                    double share = (entry.getValue() - entry.getKey().amount(pod))
                            / entry.getValue().doubleValue();
                    return share > 0 ? share * share : 0;
                })
                .sum();
    }
}
