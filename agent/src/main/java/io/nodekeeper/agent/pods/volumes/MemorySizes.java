package io.nodekeeper.agent.pods.volumes;

import io.nodekeeper.agent.pods.model.Pod;
import io.nodekeeper.api.Quantity;
import io.nodekeeper.api.json.JsonObject;

/** The size of {@code emptyDir} volumes in memory, as a kubelet 1.32 limits them. Pure. */
final class MemorySizes {
    private MemorySizes() {}

    /**
     * The smallest of what pods may use of the node's memory, the pod's limit, which is that of its cgroup, and the volume's {@code
     * sizeLimit}; 0 if there is none of them.
     *
     * @param allocatable the bytes of memory that pods may use; 0 if not known
     */
    static long of(Pod pod, JsonObject emptyDir, long allocatable) {
        long ofPod = pod.limit("memory").map(Quantity::toLong).orElse(0L);
        return smallest(smallest(allocatable, ofPod), limit(emptyDir));
    }

    /** The volume's {@code sizeLimit}; 0 if it has none. */
    static long limit(JsonObject emptyDir) {
        return emptyDir.get("sizeLimit")
                .flatMap(Quantity::from)
                .map(Quantity::toLong)
                .orElse(0L);
    }

    private static long smallest(long a, long b) {
        return a <= 0 ? b : b <= 0 ? a : Math.min(a, b);
    }
}
