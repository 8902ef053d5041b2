package io.nodekeeper.agent.pleg;

import io.nodekeeper.cri.ContainerStatus;
import io.nodekeeper.cri.PodSandboxStatus;
import java.util.List;

/**
 * The status of a pod as the runtime reported it. Immutable.
 *
 * @param ips those of its newest sandbox while that is ready; afterwards the last known ones
 * @param sandboxes newest first
 */
public record PodStatus(
        PodRef pod, List<String> ips, List<PodSandboxStatus> sandboxes, List<ContainerStatus> containers) {

    /** The status of a pod that has nothing in the runtime. */
    public static PodStatus empty(String uid) {
        return new PodStatus(new PodRef(uid, "", ""), List.of(), List.of(), List.of());
    }

    /** Combines the answers for all sandboxes, newest first, and all containers of a pod. */
    static PodStatus of(PodRef pod, List<PodSandboxStatus> sandboxes, List<ContainerStatus> containers) {
        boolean reachable =
                !sandboxes.isEmpty() && sandboxes.getFirst().sandbox().ready();
        return new PodStatus(pod, reachable ? sandboxes.getFirst().ips() : List.of(), sandboxes, containers);
    }

    /** A pod that ended keeps its last addresses: components that close its connections need them. */
    PodStatus keepingAddressesOf(PodStatus before) {
        boolean anyReady =
                sandboxes.stream().anyMatch(status -> status.sandbox().ready());
        return ips.isEmpty() && !anyReady ? new PodStatus(pod, before.ips, sandboxes, containers) : this;
    }
}
