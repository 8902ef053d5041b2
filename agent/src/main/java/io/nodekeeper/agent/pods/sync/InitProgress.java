package io.nodekeeper.agent.pods.sync;

import io.nodekeeper.agent.pods.containers.PodLabels;
import io.nodekeeper.agent.pods.model.ContainerHealth;
import io.nodekeeper.agent.pods.model.ContainerSpec;
import io.nodekeeper.agent.pods.model.Pod;
import io.nodekeeper.cri.ContainerState;
import io.nodekeeper.cri.ContainerStatus;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * How far a pod is with its init containers, by the kubelet's rules: one after another; a sidecar counts once it has started,
 * is started again whenever it ends, and is replaced if its image changes. The last init container that the runtime knows
 * decides, because the runtime may have forgotten earlier ones; if a main container runs, all have been through. Immutable.
 *
 * @param done whether main containers may start
 * @param failed whether one failed and the pod does not restart
 * @param due those to start now
 * @param kills those to end now: a probe failed, the image of a sidecar changed, or the runtime lost the state
 */
record InitProgress(boolean done, boolean failed, List<ContainerSpec> due, List<ContainerStatus> kills) {

    static InitProgress of(Pod pod, Observed observed, Map<String, ContainerHealth> health) {
        List<ContainerSpec> all = pod.initContainers();
        List<ContainerSpec> due = new ArrayList<>();
        List<ContainerStatus> kills = new ArrayList<>();
        boolean done = all.isEmpty() || hasBegun(pod, observed);
        // Whether the newest init container that counts has been found.
        boolean found = done;
        for (int i = all.size() - 1; i >= 0; i--) {
            ContainerSpec container = all.get(i);
            Optional<ContainerStatus> newest = observed.newest(container.name());
            if (newest.isEmpty()) {
                if (found && container.isSidecar()) {
                    due.addFirst(container);
                }
                continue;
            }
            if (found && !container.isSidecar()) {
                continue;
            }
            ContainerStatus status = newest.get();
            ContainerHealth known = health.getOrDefault(status.id(), ContainerHealth.GOOD);
            if (isFailure(container, status) && pod.restartPolicy() == Pod.RestartPolicy.NEVER) {
                return new InitProgress(false, true, List.of(), List.of());
            }
            if (!found && isThrough(container, status, known)) {
                if (i == all.size() - 1) {
                    done = true;
                } else {
                    due.addFirst(all.get(i + 1));
                }
            }
            if (status.state() == ContainerState.UNKNOWN
                    || status.state() == ContainerState.RUNNING
                            && (known.failed().isPresent() || isReplaced(container, status, known))) {
                kills.add(status);
            } else if (status.state() == ContainerState.CREATED
                    || status.state() == ContainerState.EXITED
                            && (container.isSidecar() || isFailure(container, status))) {
                due.addFirst(container);
            }
            found = true;
        }
        if (!found) {
            due.add(all.getFirst());
        }
        return new InitProgress(done, false, List.copyOf(due), List.copyOf(kills));
    }

    /** Whether a main container runs, or may: then all init containers were through, whatever the runtime still knows. */
    static boolean hasBegun(Pod pod, Observed observed) {
        return pod.containers().stream()
                .flatMap(container -> observed.newest(container.name()).stream())
                .anyMatch(status -> status.state() != ContainerState.EXITED);
    }

    private static boolean isFailure(ContainerSpec container, ContainerStatus status) {
        return !container.isSidecar() && status.state() == ContainerState.EXITED && status.exitCode() != 0;
    }

    /** As with a kubelet, a sidecar is replaced once it has started; before, its startup probe decides. */
    private static boolean isReplaced(ContainerSpec container, ContainerStatus status, ContainerHealth health) {
        return container.isSidecar() && health.started() && PodLabels.isChanged(container, status);
    }

    private static boolean isThrough(ContainerSpec container, ContainerStatus status, ContainerHealth health) {
        return container.isSidecar()
                ? status.state() == ContainerState.RUNNING && health.started()
                : status.state() == ContainerState.EXITED && status.exitCode() == 0;
    }
}
