package io.nodekeeper.agent.pods.probes;

import io.nodekeeper.agent.pods.model.ContainerHealth;
import io.nodekeeper.agent.pods.model.ContainerSpec;
import io.nodekeeper.agent.pods.model.Pod;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.cri.ContainerState;
import io.nodekeeper.cri.ContainerStatus;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Runs the probes of one pod's running containers, each on its own timers. Confined to its loop; its size is bounded by the
 * number of containers.
 */
public final class PodProbes {
    private final ProbePorts ports;
    private final ProbeListener listener;
    /** By the runtime's id. */
    private final Map<String, ContainerProbes> running = new HashMap<>();

    private boolean seen;

    /** The probes of a pod; none runs yet. */
    public PodProbes(ProbePorts ports, ProbeListener listener) {
        this.ports = ports;
        this.listener = listener;
    }

    /**
     * Starts the probes of containers that run now, and ends those of others.
     *
     * @param ends whether the pod must end: then its containers are no longer probed for what would restart them
     * @param observed what the runtime shows
     * @param podIp the pod's address; empty if it has none yet
     * @param before the status in the API: containers of an earlier agent stay ready until a probe says otherwise
     * @return the health of each running container, by its id
     */
    public Map<String, ContainerHealth> update(
            Pod pod, boolean ends, List<ContainerStatus> observed, String podIp, JsonObject before) {
        ContainerProbes.Context context = new ContainerProbes.Context(ports, listener, pod, podIp);
        Map<String, ContainerHealth> health = new HashMap<>();
        Set<String> alive = new HashSet<>();
        Map<String, ContainerSpec> containers = pod.containersByName();
        // Of a container that ran before this agent, the API knows the last verdicts.
        Map<String, JsonObject> reported = seen ? Map.of() : reported(before);
        for (ContainerStatus status : observed) {
            if (status.state() != ContainerState.RUNNING) {
                continue;
            }
            Optional.ofNullable(containers.get(status.name())).ifPresent(container -> {
                alive.add(status.id());
                ContainerProbes probes = running.computeIfAbsent(status.id(), id -> {
                    JsonObject known = reported.getOrDefault(id, JsonObject.EMPTY);
                    return ContainerProbes.of(container, status, known, !seen);
                });
                probes.continueWith(context, ends);
                health.put(status.id(), probes.health());
            });
        }
        running.entrySet().removeIf(entry -> {
            if (alive.contains(entry.getKey())) {
                return false;
            }
            entry.getValue().stop();
            return true;
        });
        seen = true;
        return health;
    }

    /** The entries of {@code status}, by the runtime's id, which is after the name of the runtime. */
    private static Map<String, JsonObject> reported(JsonObject status) {
        return Stream.of("containerStatuses", "initContainerStatuses")
                .flatMap(field -> status.array(field).objects())
                .collect(Collectors.toMap(
                        entry -> entry.text("containerID").replaceFirst("^.*://", ""),
                        entry -> entry,
                        (first, second) -> first));
    }

    /** The newest health of each running container, by its id. */
    public Map<String, ContainerHealth> health() {
        Map<String, ContainerHealth> health = new HashMap<>();
        running.forEach((id, probes) -> health.put(id, probes.health()));
        return health;
    }

    /** Ends all probes of {@code pod}. */
    public void stop(Pod pod) {
        running.values().forEach(ContainerProbes::stop);
        running.clear();
        ports.metrics().forget(pod);
    }
}
