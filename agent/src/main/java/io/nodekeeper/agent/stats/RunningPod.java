package io.nodekeeper.agent.stats;

import java.time.Instant;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * A pod with a sandbox that is ready. Immutable.
 *
 * @param sandbox the id of the sandbox
 * @param startedAt when the sandbox was created
 * @param containers its running containers
 */
public record RunningPod(
        String uid,
        String name,
        String namespace,
        String sandbox,
        Optional<Instant> startedAt,
        List<RunningContainer> containers) {

    /**
     * A running container.
     *
     * @param id the runtime's id
     * @param name its name in the pod
     */
    public record RunningContainer(String id, String name, Optional<Instant> startedAt) {}

    /** Copies the list. */
    public RunningPod {
        containers = List.copyOf(containers);
    }

    /** The ids by which its cgroups are found: of the pod, of its sandbox, and of its containers. */
    Set<String> ids() {
        Set<String> ids = new HashSet<>(Set.of(uid, sandbox));
        containers.forEach(container -> ids.add(container.id()));
        return ids;
    }
}
