package io.nodekeeper.agent.pods.sync;

import io.nodekeeper.cri.ContainerStatus;
import io.nodekeeper.cri.PodSandbox;
import io.nodekeeper.cri.PodSandboxStatus;
import java.util.ArrayList;
import java.util.Collection;
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

    /** Those of a pod of which the containers {@code gone} are being removed already. */
    static Leftovers of(Observed observed, Collection<ContainerStatus> gone) {
        List<ContainerStatus> old = new ArrayList<>();
        Set<String> names = new HashSet<>();
        Set<Optional<String>> homes = new HashSet<>();
        for (ContainerStatus container : observed.containers()) {
            if (Observed.mayRun(container) || gone.contains(container)) {
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

    boolean isEmpty() {
        return containers.isEmpty() && sandboxes.isEmpty();
    }
}
