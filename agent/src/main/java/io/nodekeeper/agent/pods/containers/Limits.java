package io.nodekeeper.agent.pods.containers;

import io.nodekeeper.agent.pods.cgroups.CpuAmounts;
import io.nodekeeper.agent.pods.cgroups.HugePages;
import io.nodekeeper.agent.pods.model.ContainerSpec;
import io.nodekeeper.agent.pods.model.Pod;
import io.nodekeeper.api.QosClass;
import io.nodekeeper.api.Quantity;
import io.nodekeeper.cri.config.ContainerConfig;
import io.nodekeeper.cri.config.SandboxOptions;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Collectors;

/** Converts requests and limits of a container, and of a sandbox, to the kernel's numbers, with Kubernetes' formulas. */
final class Limits {
    /** The class of pods without which a node does not work. */
    private static final String NODE_CRITICAL = "system-node-critical";

    private static final int OOM_GUARANTEED = -997;
    private static final int OOM_BEST_EFFORT = 1_000;

    private Limits() {}

    static ContainerConfig.Resources of(Pod pod, ContainerSpec container, NodeSettings node) {
        return resources(
                node,
                container.request("cpu").orElse(Quantity.ZERO),
                container.limit("cpu").orElse(Quantity.ZERO),
                container.limit("memory").orElse(Quantity.ZERO),
                oomScore(pod, container, node),
                node.cgroups().killsTogether(),
                hugePages(container));
    }

    /** The size of a pod, for its sandbox. */
    static SandboxOptions.Size ofSandbox(Pod pod, NodeSettings node) {
        ContainerConfig.Resources containers = amounts(
                node, pod.requestOfContainers("cpu"), pod.limitOfContainers("cpu"), pod.limitOfContainers("memory"));
        if (!pod.spec().has("overhead")) {
            return new SandboxOptions.Size(Optional.of(containers), Optional.empty());
        }
        Quantity cpu = pod.overhead("cpu");
        return new SandboxOptions.Size(
                Optional.of(containers), Optional.of(amounts(node, cpu, cpu, pod.overhead("memory"))));
    }

    private static ContainerConfig.Resources amounts(
            NodeSettings node, Quantity cpuRequest, Quantity cpuLimit, Quantity memory) {
        return resources(node, cpuRequest, cpuLimit, memory, 0, false, Map.of());
    }

    private static ContainerConfig.Resources resources(
            NodeSettings node,
            Quantity cpuRequest,
            Quantity cpuLimit,
            Quantity memory,
            int oomScore,
            boolean killedTogether,
            Map<String, Long> hugePages) {
        long limit = node.cgroups().cpuQuota() ? cpuLimit.toMillis() : 0;
        return new ContainerConfig.Resources(
                CpuAmounts.shares(cpuRequest.toMillis()),
                CpuAmounts.quota(limit),
                limit == 0 ? 0 : CpuAmounts.PERIOD,
                memory.toLong(),
                oomScore,
                killedTogether,
                "",
                hugePages);
    }

    private static Map<String, Long> hugePages(ContainerSpec container) {
        return HugePages.limits(container.limited().stream()
                .collect(Collectors.toMap(
                        Function.identity(),
                        resource -> container.limit(resource).orElse(Quantity.ZERO))));
    }

    private static int oomScore(Pod pod, ContainerSpec container, NodeSettings node) {
        if (pod.spec().text("priorityClassName").equals(NODE_CRITICAL)) {
            return OOM_GUARANTEED;
        }
        return switch (QosClass.of(pod.spec())) {
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
