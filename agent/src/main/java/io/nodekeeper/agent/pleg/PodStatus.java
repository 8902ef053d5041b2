package io.nodekeeper.agent.pleg;

import io.nodekeeper.cri.Container;
import io.nodekeeper.cri.ContainerStatus;
import io.nodekeeper.cri.PodSandboxStatus;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The status of a pod as the runtime reported it. Immutable.
 *
 * @param ips those of its newest sandbox while that is ready; afterwards the last known ones
 * @param sandboxes newest first
 * @param homes by the id of a container: that of its sandbox, which only lists show
 */
public record PodStatus(
        PodRef pod,
        List<String> ips,
        List<PodSandboxStatus> sandboxes,
        List<ContainerStatus> containers,
        Map<String, String> homes) {

    /** A status that does not say in which sandboxes the containers are. */
    public PodStatus(PodRef pod, List<String> ips, List<PodSandboxStatus> sandboxes, List<ContainerStatus> containers) {
        this(pod, ips, sandboxes, containers, Map.of());
    }

    /** The status of a pod that has nothing in the runtime. */
    public static PodStatus empty(String uid) {
        return new PodStatus(new PodRef(uid, "", ""), List.of(), List.of(), List.of());
    }

    /** Combines the answers for all sandboxes, newest first, and all containers of a pod, which were {@code listed}. */
    static PodStatus of(
            PodRef pod,
            List<PodSandboxStatus> sandboxes,
            List<ContainerStatus> containers,
            Collection<Container> listed) {
        boolean reachable =
                !sandboxes.isEmpty() && sandboxes.getFirst().sandbox().ready();
        Map<String, String> homes = new HashMap<>();
        listed.forEach(container -> homes.put(container.id(), container.sandboxId()));
        return new PodStatus(
                pod, reachable ? sandboxes.getFirst().ips() : List.of(), sandboxes, containers, Map.copyOf(homes));
    }

    /** The same with other statuses of its containers. */
    public PodStatus with(List<ContainerStatus> changed) {
        return new PodStatus(pod, ips, sandboxes, changed, homes);
    }

    /** A pod that ended keeps its last addresses: components that close its connections need them. */
    PodStatus keepingAddressesOf(PodStatus before) {
        boolean anyReady =
                sandboxes.stream().anyMatch(status -> status.sandbox().ready());
        return ips.isEmpty() && !anyReady ? new PodStatus(pod, before.ips, sandboxes, containers, homes) : this;
    }
}
