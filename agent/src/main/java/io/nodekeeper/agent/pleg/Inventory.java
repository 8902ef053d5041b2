package io.nodekeeper.agent.pleg;

import io.nodekeeper.cri.Container;
import io.nodekeeper.cri.ContainerState;
import io.nodekeeper.cri.PodSandbox;
import java.util.Collections;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** All sandboxes and containers of a list, grouped by pod. Immutable. */
public final class Inventory {
    /** The inventory before the first list. */
    public static final Inventory EMPTY = new Inventory(List.of(), List.of());

    private final List<PodSandbox> sandboxes;
    private final List<Container> containers;
    private final Map<String, ListedPod> pods;

    /** Sandboxes and containers without a pod UID were not created by Kubernetes and belong to no pod. */
    Inventory(List<PodSandbox> sandboxes, List<Container> containers) {
        this.sandboxes = Collections.unmodifiableList(sandboxes);
        this.containers = Collections.unmodifiableList(containers);
        this.pods = LinkedHashMap.newLinkedHashMap(sandboxes.size());
        for (PodSandbox sandbox : sandboxes) {
            if (!sandbox.podUid().isEmpty()) {
                pods.computeIfAbsent(
                                sandbox.podUid(),
                                uid -> new ListedPod(new PodRef(uid, sandbox.podName(), sandbox.podNamespace())))
                        .add(sandbox);
            }
        }
        for (Container container : containers) {
            if (!container.podUid().isEmpty()) {
                pods.computeIfAbsent(container.podUid(), uid -> new ListedPod(new PodRef(uid, "", "")))
                        .add(container);
            }
        }
    }

    /** As the runtime listed them. */
    public List<PodSandbox> sandboxes() {
        return sandboxes;
    }

    /** As the runtime listed them. */
    public List<Container> containers() {
        return containers;
    }

    /** All pods, in the order of the list. */
    public List<PodRef> pods() {
        return pods.values().stream().map(ListedPod::ref).toList();
    }

    /** The pod with that UID. */
    public Optional<PodRef> pod(String uid) {
        return Optional.ofNullable(pods.get(uid)).map(ListedPod::ref);
    }

    /**
     * The pod of the sandbox or container {@code id}. Searches the list: an index would be built far more often than
     * used.
     */
    public Optional<PodRef> podOf(String id) {
        return pods.values().stream().filter(pod -> pod.has(id)).findFirst().map(ListedPod::ref);
    }

    /** By pod UID. */
    Map<String, ListedPod> listed() {
        return pods;
    }

    /** The number of pods with a ready sandbox. */
    int runningPods() {
        int running = 0;
        for (ListedPod pod : pods.values()) {
            running += pod.isRunning() ? 1 : 0;
        }
        return running;
    }

    /** The number of containers in each state; every state has an entry. */
    Map<ContainerState, Integer> containersByState() {
        int[] counts = new int[ContainerState.values().length];
        for (Container container : containers) {
            counts[container.state().ordinal()]++;
        }
        Map<ContainerState, Integer> byState = new EnumMap<>(ContainerState.class);
        for (ContainerState state : ContainerState.values()) {
            byState.put(state, counts[state.ordinal()]);
        }
        return byState;
    }
}
