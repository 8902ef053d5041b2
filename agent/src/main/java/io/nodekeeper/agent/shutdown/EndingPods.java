package io.nodekeeper.agent.shutdown;

import io.nodekeeper.agent.pods.model.Pod;
import java.time.Duration;
import java.util.List;

/** The pods that end before the machine. Confined to the agent's loop. */
public interface EndingPods {
    /** No pods. */
    EndingPods NONE = new EndingPods() {
        @Override
        public List<Pod> running() {
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

    /** The pods that run or will run, static ones included. */
    List<Pod> running();

    /** Whether all pods of the node that run are known; shortly after a start of the agent they are not. */
    boolean areKnown();

    /** Ends a pod, which is then Failed with that reason. */
    void end(Pod pod, Duration grace, String reason, String message);

    /** Whether something of the pod is still there. */
    boolean isEnding(Pod pod);

    /** Whether new pods are refused from now on. */
    void refuseAll(boolean refused);
}
