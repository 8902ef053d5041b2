package io.nodekeeper.agent.pods.containers;

import io.nodekeeper.agent.pods.model.ContainerSpec;
import io.nodekeeper.agent.pods.model.Pod;
import io.nodekeeper.agent.pods.model.Qos;
import io.nodekeeper.api.Quantity;
import io.nodekeeper.cri.config.ContainerConfig;

/** Converts requests and limits to the kernel's numbers, with Kubernetes' formulas. */
final class Limits {
    /** The kernel's period of processor time, µs. */
    private static final long PERIOD = 100_000;
    /** The smallest quota that the kernel accepts, µs. */
    private static final long LEAST_QUOTA = 1_000;
    /** The shares of one processor, and the smallest and largest values that the kernel accepts. */
    private static final long SHARES = 1_024;

    private static final long LEAST_SHARES = 2;
    private static final long MOST_SHARES = 262_144;
    /** Pods of this priority and higher are critical for their node. */
    private static final long CRITICAL = 2_000_000_000;

    private static final int OOM_GUARANTEED = -997;
    private static final int OOM_BEST_EFFORT = 1_000;

    private Limits() {}

    static ContainerConfig.Resources of(Pod pod, ContainerSpec container, NodeSettings node) {
        long request = container.request("cpu").map(Quantity::toMillis).orElse(0L);
        long limit = container.limit("cpu").map(Quantity::toMillis).orElse(0L);
        return new ContainerConfig.Resources(
                request == 0 ? LEAST_SHARES : Math.clamp(request * SHARES / 1_000, LEAST_SHARES, MOST_SHARES),
                limit == 0 ? 0 : Math.max(LEAST_QUOTA, limit * PERIOD / 1_000),
                limit == 0 ? 0 : PERIOD,
                container.limit("memory").map(Quantity::toLong).orElse(0L),
                oomScore(pod, container, node));
    }

    private static int oomScore(Pod pod, ContainerSpec container, NodeSettings node) {
        if (pod.spec().number("priority").orElse(0L) >= CRITICAL) {
            return OOM_GUARANTEED;
        }
        return switch (Qos.of(pod)) {
            case GUARANTEED -> OOM_GUARANTEED;
            case BEST_EFFORT -> OOM_BEST_EFFORT;
            case BURSTABLE -> {
                long memory = memory(container);
                if (container.isSidecar()) {
                    // Not ended before the containers that need it.
                    long least = pod.containers().stream()
                            .mapToLong(Limits::memory)
                            .min()
                            .orElse(0);
                    memory = Math.max(memory, least);
                }
                long adjust = node.memory() == 0 ? 0 : OOM_BEST_EFFORT * memory / node.memory();
                // Always worse than a guaranteed container, and better than one that requests nothing.
                yield (int) Math.clamp(OOM_BEST_EFFORT - adjust, 1_000 + OOM_GUARANTEED, OOM_BEST_EFFORT - 1);
            }
        };
    }

    private static long memory(ContainerSpec container) {
        return container.request("memory").map(Quantity::toLong).orElse(0L);
    }
}
