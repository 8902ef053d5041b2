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
 * @param ended the other containers of it that the runtime still has: what they wrote is on disk, and they use nothing else
 */
public record RunningPod(
        String uid,
        String name,
        String namespace,
        String sandbox,
        Optional<Instant> startedAt,
        List<RunningContainer> containers,
        List<EndedContainer> ended) {

    /**
     * A running container.
     *
     * @param id the runtime's id
     * @param name its name in the pod
     */
    public record RunningContainer(String id, String name, Optional<Instant> startedAt) {}

    /**
     * A container that does not run.
     *
     * @param id the runtime's id
     * @param name its name in the pod
     */
    public record EndedContainer(String id, String name) {}

    /** Copies the lists. */
    public RunningPod {
        containers = List.copyOf(containers);
        ended = List.copyOf(ended);
    }

    /** A pod of which all containers run. */
    public RunningPod(
            String uid,
            String name,
            String namespace,
            String sandbox,
            Optional<Instant> startedAt,
            List<RunningContainer> containers) {
        this(uid, name, namespace, sandbox, startedAt, containers, List.of());
    }

    /** The ids by which its cgroups are found: of the pod, of its sandbox, and of its containers. */
    Set<String> ids() {
        Set<String> ids = new HashSet<>(Set.of(uid, sandbox));
        containers.forEach(container -> ids.add(container.id()));
        return ids;
    }
}
