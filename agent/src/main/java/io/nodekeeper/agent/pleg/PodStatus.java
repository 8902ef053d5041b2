package io.nodekeeper.agent.pleg;

import io.nodekeeper.cri.ContainerStatus;
import io.nodekeeper.cri.PodSandboxStatus;
import java.util.List;

/**
 * What is known of a pod. Immutable.
 *
 * @param ips of its newest sandbox while that is ready; once none is, those that it had last
 * @param sandboxes newest first
 */
public record PodStatus(
        PodRef pod, List<String> ips, List<PodSandboxStatus> sandboxes, List<ContainerStatus> containers) {

    /** Of a pod that has nothing in the runtime. */
    public static PodStatus empty(String uid) {
        return new PodStatus(new PodRef(uid, "", ""), List.of(), List.of(), List.of());
    }

    /** From the answers for all sandboxes, newest first, and all containers of a pod. */
    static PodStatus of(PodRef pod, List<PodSandboxStatus> sandboxes, List<ContainerStatus> containers) {
        boolean reachable =
                !sandboxes.isEmpty() && sandboxes.getFirst().sandbox().ready();
        return new PodStatus(pod, reachable ? sandboxes.getFirst().ips() : List.of(), sandboxes, containers);
    }

    /** A pod that ended keeps the addresses it had: components that close its connections need them. */
    PodStatus keepingAddressesOf(PodStatus before) {
        boolean anyReady =
                sandboxes.stream().anyMatch(status -> status.sandbox().ready());
        return ips.isEmpty() && !anyReady ? new PodStatus(pod, before.ips, sandboxes, containers) : this;
    }
}
