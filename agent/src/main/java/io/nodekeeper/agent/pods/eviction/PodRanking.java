package io.nodekeeper.agent.pods.eviction;

import io.nodekeeper.agent.eviction.Shortage;
import io.nodekeeper.agent.pods.model.Pod;
import io.nodekeeper.agent.stats.PodUse;
import io.nodekeeper.api.Quantity;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * The order in which a kubelet evicts pods: those that use more than they request first, then those of lower priority, then those
 * that use most beyond their request. For process ids there is no request: priority, then the number of processes. A pod whose
 * use is not known counts as one that uses too much. If images have a disk of their own, only what is on the disk that is short counts.
 * Pure.
 *
 * @param resource as in messages: {@code memory}, {@code ephemeral-storage}, {@code inodes}, {@code pids}
 * @param ofImages whether the disk of the images is short, rather than the node's
 * @param use by UID
 */
record PodRanking(String resource, boolean ofImages, Map<String, PodUse> use) {
    /** The ranking for {@code shortage}. */
    static PodRanking of(Shortage shortage, Map<String, PodUse> use) {
        return new PodRanking(shortage.resource(), shortage.isOfImages(), use);
    }

    /** The first pod to evict; empty if none may be. */
    Optional<Pod> first(List<Pod> pods) {
        return pods.stream().min(order());
    }

    private Comparator<Pod> order() {
        Comparator<Pod> most = Comparator.comparingLong(this::beyond).reversed();
        Comparator<Pod> priority = Comparator.comparingLong(Pod::priority);
        if (resource.equals("pids")) {
            return priority.thenComparing(most);
        }
        Comparator<Pod> tooMuch =
                Comparator.comparing(pod -> !isKnown(pod) || beyond(pod) > 0, Comparator.reverseOrder());
        return tooMuch.thenComparing(priority).thenComparing(most);
    }

    private boolean isKnown(Pod pod) {
        return used(pod).isPresent();
    }

    private long beyond(Pod pod) {
        return used(pod).orElse(0) - requested(pod);
    }

    private OptionalLong used(Pod pod) {
        PodUse own = use.get(pod.uid());
        if (own == null) {
            return OptionalLong.empty();
        }
        return switch (resource) {
            case "memory" -> own.memory();
            case "pids" -> own.processes();
            case "inodes" -> OptionalLong.of(ofImages ? own.imageInodes() : own.inodes());
            default -> OptionalLong.of(ofImages ? own.imageDisk() : own.disk());
        };
    }

    /** Pods cannot request inodes or process ids. */
    private long requested(Pod pod) {
        return switch (resource) {
            case "memory", "ephemeral-storage" -> pod.request(resource).toLong();
            default -> 0;
        };
    }

    /** The status's message about {@code pod}, with what its containers use beyond their requests. */
    String message(Pod pod, Shortage shortage) {
        StringBuilder message =
                new StringBuilder("The node was low on resource: %s. Threshold quantity: %s, available: %s. "
                        .formatted(
                                resource,
                                shortage.threshold().quantity(shortage.level()),
                                available(shortage.level().available())));
        PodUse own = use.get(pod.uid());
        if (own == null) {
            return message.toString();
        }
        pod.containers().forEach(container -> {
            PodUse.ContainerUse part = own.containers().get(container.name());
            OptionalLong used = part == null
                    ? OptionalLong.empty()
                    : switch (resource) {
                        case "memory" -> part.memory();
                        case "ephemeral-storage" -> OptionalLong.of(part.disk());
                        default -> OptionalLong.empty();
                    };
            Quantity request = container.request(resource).orElse(Quantity.ZERO);
            if (used.isPresent() && used.getAsLong() > request.toLong()) {
                message.append("Container %s was using %s, request is %s, has larger consumption of %s. "
                        .formatted(container.name(), amount(used.getAsLong()), request, resource));
            }
        });
        return message.toString();
    }

    /** Bytes in powers of two, the rest in decimal, as Kubernetes writes them. */
    private Quantity available(long amount) {
        boolean bytes = resource.equals("memory") || resource.equals("ephemeral-storage");
        return bytes ? amount(amount) : Quantity.of(amount);
    }

    private static Quantity amount(long bytes) {
        return Quantity.of(bytes, Quantity.Format.BINARY_SI);
    }
}
