package io.nodekeeper.agent.pods.volumes;

import io.nodekeeper.agent.pods.model.ContainerSpec;
import io.nodekeeper.agent.pods.model.Pod;
import io.nodekeeper.api.Quantity;
import io.nodekeeper.api.json.JsonObject;

/** The size of {@code emptyDir} volumes in memory, as a kubelet 1.32 limits them. Pure. */
final class MemorySizes {
    private MemorySizes() {}

    /**
     * The smallest of what pods may use of the node's memory, the limits of the pod's containers, and the volume's {@code
     * sizeLimit}; 0 if none of them is known.
     *
     * @param allocatable the bytes of memory that pods may use; 0 if not known
     */
    static long of(Pod pod, JsonObject emptyDir, long allocatable) {
        long limits = pod.containers().stream()
                .map(ContainerSpec::json)
                .map(container -> container.object("resources").object("limits"))
                .mapToLong(limit -> bytes(limit, "memory"))
                .sum();
        return smallest(smallest(allocatable, limits), limit(emptyDir));
    }

    /** The volume's {@code sizeLimit}; 0 if it has none. */
    static long limit(JsonObject emptyDir) {
        return bytes(emptyDir, "sizeLimit");
    }

    private static long bytes(JsonObject json, String field) {
        return json.get(field).flatMap(Quantity::from).map(Quantity::toLong).orElse(0L);
    }

    private static long smallest(long a, long b) {
        return a <= 0 ? b : b <= 0 ? a : Math.min(a, b);
    }
}
