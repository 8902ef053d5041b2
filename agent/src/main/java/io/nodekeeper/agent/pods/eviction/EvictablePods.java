package io.nodekeeper.agent.pods.eviction;

import io.nodekeeper.agent.eviction.Pressure;
import io.nodekeeper.agent.pods.model.Pod;
import io.nodekeeper.agent.pods.sync.Wanted;
import java.time.Duration;
import java.util.List;
import java.util.Set;

/** The pods that the node may end. Confined to the agent's loop. */
public interface EvictablePods {
    /**
     * The pods that run or will run, and those that were deleted and of which a container still runs, unless the node has evicted them
     * already. Static ones excepted.
     */
    List<Pod> evictable();

    /** Ends a pod, which is then Failed; one that was deleted has no more time than that, and goes. */
    void evict(Pod pod, Duration grace, Wanted.Eviction why);

    /** What the node is under; pods that would make it worse are refused. */
    void underPressure(Set<Pressure> pressures);

    /** Whether something of the pod is still on the node. */
    boolean isEnding(Pod pod);
}
