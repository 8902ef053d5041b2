package io.nodekeeper.agent.pleg;

import io.nodekeeper.cri.Container;
import io.nodekeeper.cri.PodSandbox;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** One pod as a list shows it: its sandboxes and its containers. Not changed once its list is complete. */
final class ListedPod {
    /** By attempt first: the creation time of a sandbox whose start failed is not reliable. */
    static final Comparator<PodSandbox> NEWEST_FIRST = Comparator.comparingInt(PodSandbox::attempt)
            .thenComparingLong(PodSandbox::createdAtNanos)
            .reversed();

    private final PodRef ref;
    // Most pods have one sandbox and one or two containers.
    private final List<PodSandbox> sandboxes = new ArrayList<>(1);
    private final List<Container> containers = new ArrayList<>(2);

    ListedPod(PodRef ref) {
        this.ref = ref;
    }

    void add(PodSandbox sandbox) {
        sandboxes.add(sandbox);
    }

    void add(Container container) {
        containers.add(container);
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

    boolean isGone() {
        return sandboxes.isEmpty() && containers.isEmpty();
    }

    boolean isRunning() {
        for (PodSandbox sandbox : sandboxes) {
            if (sandbox.ready()) {
                return true;
            }
        }
        return false;
    }

    /** Whether it has the sandbox or container {@code id}. */
    boolean has(String id) {
        for (PodSandbox sandbox : sandboxes) {
            if (sandbox.id().equals(id)) {
                return true;
            }
        }
        for (Container container : containers) {
            if (container.id().equals(id)) {
                return true;
            }
        }
        return false;
    }

    /** The state of each sandbox and container, by id. */
    Map<String, PlegState> states() {
        Map<String, PlegState> states = new LinkedHashMap<>();
        sandboxes.forEach(sandbox -> states.put(sandbox.id(), PlegState.ofSandbox(sandbox.ready())));
        containers.forEach(container -> states.put(container.id(), PlegState.of(container.state())));
        return states;
    }

    /** Whether all states are the same. Called for every pod at every list, so it is cheap if nothing changed. */
    boolean isSame(ListedPod other) {
        return (sandboxes.equals(other.sandboxes) && containers.equals(other.containers))
                || states().equals(other.states());
    }
}
