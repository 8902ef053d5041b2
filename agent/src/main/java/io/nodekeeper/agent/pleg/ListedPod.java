package io.nodekeeper.agent.pleg;

import io.nodekeeper.cri.Container;
import io.nodekeeper.cri.PodSandbox;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** One pod as a list shows it: its sandboxes, its containers and the state of each. Not changed once its list is complete. */
final class ListedPod {
    /** By attempt first: the creation time of a sandbox whose start failed is nonsense. */
    static final Comparator<PodSandbox> NEWEST_FIRST = Comparator.comparingInt(PodSandbox::attempt)
            .thenComparingLong(PodSandbox::createdAtNanos)
            .reversed();

    private final PodRef ref;
    private final List<PodSandbox> sandboxes = new ArrayList<>(1);
    private final List<Container> containers = new ArrayList<>(2);
    private final Map<String, PlegState> states = new LinkedHashMap<>();

    ListedPod(PodRef ref) {
        this.ref = ref;
    }

    void add(PodSandbox sandbox) {
        sandboxes.add(sandbox);
        states.put(sandbox.id(), PlegState.ofSandbox(sandbox.ready()));
    }

    void add(Container container) {
        containers.add(container);
        states.put(container.id(), PlegState.of(container.state()));
    }

    PodRef ref() {
        return ref;
    }

    List<PodSandbox> newestFirst() {
        return sandboxes.stream().sorted(NEWEST_FIRST).toList();
    }

    List<Container> containers() {
        return containers;
    }

    /** By id, of sandboxes and containers. */
    Map<String, PlegState> states() {
        return states;
    }

    boolean isGone() {
        return states.isEmpty();
    }

    boolean isRunning() {
        return sandboxes.stream().anyMatch(PodSandbox::ready);
    }
}
