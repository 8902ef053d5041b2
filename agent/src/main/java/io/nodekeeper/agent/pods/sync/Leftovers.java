package io.nodekeeper.agent.pods.sync;

import io.nodekeeper.cri.ContainerStatus;
import io.nodekeeper.cri.PodSandbox;
import io.nodekeeper.cri.PodSandboxStatus;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * What of a pod is of no use any more: ended containers except the newest one of each name, which the status shows, and
 * sandboxes that were replaced. A sandbox stays while such a newest container is in it, because a runtime removes both together. So
 * there are at most as many sandboxes as names of containers, and one. Immutable.
 */
record Leftovers(List<ContainerStatus> containers, List<PodSandbox> sandboxes) {

    /** Those of a pod. */
    static Leftovers of(Observed observed) {
        List<ContainerStatus> old = new ArrayList<>();
        Set<String> names = new HashSet<>();
        Set<Optional<String>> homes = new HashSet<>();
        for (ContainerStatus container : observed.containers()) {
            if (Observed.mayRun(container)) {
                continue;
            }
            if (names.add(container.name())) {
                homes.add(observed.home(container));
            } else {
                old.add(container);
            }
        }
        boolean known = !homes.contains(Optional.<String>empty());
        List<PodSandbox> replaced = observed.sandboxes().stream()
                .skip(1)
                .map(PodSandboxStatus::sandbox)
                .filter(sandbox -> known && !homes.contains(Optional.of(sandbox.id())))
                .toList();
        return new Leftovers(List.copyOf(old), replaced);
    }

    /** What removes the first of them, containers before sandboxes; empty if there are none. Of the sandboxes {@code stopped} are stopped. */
    Optional<PodCommand> removal(Set<String> stopped) {
        return containers.stream()
                .map(PodCommand.RemoveContainer::of)
                .<PodCommand>map(remove -> remove)
                .findFirst()
                .or(() -> sandboxes.stream()
                        .map(PodSandbox::id)
                        .<PodCommand>map(id -> stopped.contains(id)
                                ? new PodCommand.RemoveSandbox(id)
                                : new PodCommand.StopSandbox(id))
                        .findFirst());
    }
}
