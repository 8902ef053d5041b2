package io.nodekeeper.agent.nodeapi;

import io.nodekeeper.agent.pleg.PodStatus;
import io.nodekeeper.agent.pods.model.Pod;
import java.util.List;

/** The pods of the node. Called on the agent's loop. */
public interface PodSource {
    /** The pods that are bound to the node. */
    List<Pod> pods();

    /** What the runtime shows of a pod. */
    PodStatus status(String uid);
}
