package io.nodekeeper.agent.pods.sync;

import io.nodekeeper.agent.pods.model.ContainerSpec;
import io.nodekeeper.agent.pods.model.Pod;
import io.nodekeeper.agent.pods.model.UnsupportedFields;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * How far a pod is with its ephemeral containers, by the kubelet's rules: they wait for no others, also not for init containers,
 * and each is started once. Whatever became of it, it is not started again. Immutable.
 *
 * @param due those to start now
 * @param waiting by container: why it cannot be started
 */
record EphemeralProgress(List<ContainerSpec> due, Map<String, Decision.Waiting> waiting) {

    static EphemeralProgress of(Pod pod, Observed observed, PodMemory memory) {
        List<ContainerSpec> due = new ArrayList<>();
        Map<String, Decision.Waiting> waiting = new HashMap<>();
        for (ContainerSpec container : pod.ephemeralContainers()) {
            String name = container.name();
            String target = container.targetContainer();
            Optional<String> unsupported = UnsupportedFields.first(container);
            if (observed.newest(name).isPresent()) {
                // A start that failed after the container was created is not repeated.
                memory.problem(container)
                        .ifPresent(last -> waiting.put(name, new Decision.Waiting(last.reason(), last.message())));
            } else if (unsupported.isPresent()) {
                String message = unsupported.get() + " is not supported by this node's agent";
                waiting.put(name, new Decision.Waiting(Reasons.UNSUPPORTED_FIELD, message));
            } else if (!target.isEmpty() && observed.newest(target).isEmpty()) {
                String message = "unable to find target container " + target;
                waiting.put(name, new Decision.Waiting(Reasons.CREATE_CONTAINER_CONFIG_ERROR, message));
            } else {
                due.add(container);
            }
        }
        return new EphemeralProgress(List.copyOf(due), Map.copyOf(waiting));
    }
}
