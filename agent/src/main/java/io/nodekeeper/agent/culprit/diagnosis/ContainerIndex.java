package io.nodekeeper.agent.culprit.diagnosis;

import io.nodekeeper.agent.culprit.scan.PodIdentity;
import io.nodekeeper.cri.Container;
import io.nodekeeper.cri.ContainerState;
import io.nodekeeper.cri.PodSandbox;
import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** The runtime's sandboxes and containers by id, from its newest lists. Immutable. */
public final class ContainerIndex {
    /** Nothing is known. */
    public static final ContainerIndex NONE = of(List.of(), List.of());

    private final Map<String, PodSandbox> sandboxes = new LinkedHashMap<>();
    private final Map<String, Container> containers = new LinkedHashMap<>();

    private final Set<String> ids;

    private ContainerIndex(Collection<PodSandbox> listed, Collection<Container> all) {
        listed.forEach(sandbox -> sandboxes.put(sandbox.id(), sandbox));
        all.forEach(container -> containers.put(container.id(), container));
        Set<String> both = new HashSet<>(sandboxes.keySet());
        both.addAll(containers.keySet());
        ids = Set.copyOf(both);
    }

    /** The index of these lists. */
    public static ContainerIndex of(Collection<PodSandbox> sandboxes, Collection<Container> containers) {
        return new ContainerIndex(sandboxes, containers);
    }

    /** The ids of all sandboxes and containers. */
    public Set<String> ids() {
        return ids;
    }

    /** The ids of the containers that run. */
    public List<String> running() {
        return containers.values().stream()
                .filter(container -> container.state() == ContainerState.RUNNING)
                .map(Container::id)
                .toList();
    }

    /** The container of that id. */
    Optional<Container> container(String id) {
        return Optional.ofNullable(containers.get(id));
    }

    /** The sandbox with that id, or the sandbox of the container with that id. */
    Optional<PodSandbox> sandbox(String id) {
        return Optional.ofNullable(
                sandboxes.get(container(id).map(Container::sandboxId).orElse(id)));
    }

    /** The pod to which a sandbox or container id belongs. */
    Optional<PodIdentity> pod(String id) {
        return sandbox(id).map(sandbox -> new PodIdentity(sandbox.podUid(), sandbox.podName(), sandbox.podNamespace()));
    }

    /** The pod's newest sandbox. */
    Optional<PodSandbox> sandboxOfPod(String uid) {
        return sandboxes.values().stream()
                .filter(sandbox -> sandbox.podUid().equals(uid))
                .max((a, b) -> Integer.compare(a.attempt(), b.attempt()));
    }
}
