package io.nodekeeper.agent.shutdown;

import io.nodekeeper.agent.pods.model.Pod;
import java.time.Duration;
import java.util.List;

/** The pods that end before the machine. Confined to the agent's loop. */
public interface EndingPods {
    /** No pods. */
    EndingPods NONE = new EndingPods() {
        @Override
        public List<Pod> left() {
            return List.of();
        }

        @Override
        public boolean areKnown() {
            return true;
        }

        @Override
        public void end(Pod pod, Duration grace, String reason, String message) {}

        @Override
        public boolean isEnding(Pod pod) {
            return false;
        }

        @Override
        public void refuseAll(boolean refused) {}
    };

    /** The pods that run or will run, static ones included, and those that are ending already, until nothing is left of them. */
    List<Pod> left();

    /** Whether all pods of the node that run are known; shortly after a start of the agent they are not. */
    boolean areKnown();

    /** Ends a pod, which is then Failed with that reason. One that is ending already has no more than {@code grace} for it from now on. */
    void end(Pod pod, Duration grace, String reason, String message);

    /** Whether something of the pod is still on the node. */
    boolean isEnding(Pod pod);

    /** Whether new pods are refused from now on. */
    void refuseAll(boolean refused);
}
