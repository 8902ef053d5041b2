package io.nodekeeper.agent.pods.sync;

import io.nodekeeper.agent.pods.containers.PodLabels;
import io.nodekeeper.agent.pods.model.ContainerHealth;
import io.nodekeeper.agent.pods.model.ContainerSpec;
import io.nodekeeper.agent.pods.model.Pod;
import io.nodekeeper.agent.pods.model.ProbeSpec;
import io.nodekeeper.cri.ContainerState;
import io.nodekeeper.cri.ContainerStatus;
import java.time.Duration;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/**
 * Why running containers of a pod must end. Immutable.
 *
 * @param health of those that have probes, by the runtime's id
 */
record Faults(Pod pod, Map<String, ContainerHealth> health) {

    /** Why a main container must end, and whether it runs again. */
    record Fault(String message, boolean restarts) {}

    /** Empty if the container may run. One that has changed runs again whatever the policy, as with a kubelet. */
    Optional<Fault> of(ContainerSpec container, ContainerStatus status) {
        // If the runtime lost it, only a new one is certain to run.
        if (status.state() == ContainerState.UNKNOWN || PodLabels.isChanged(container, status)) {
            return Optional.of(
                    new Fault("Container " + container.name() + " definition changed, will be restarted", true));
        }
        boolean never = pod.restartPolicy() == Pod.RestartPolicy.NEVER;
        String after = never ? "" : ", will be restarted";
        return failedProbe(status)
                .map(probe ->
                        new Fault("Container " + container.name() + " failed " + probe + " probe" + after, !never));
    }

    /** Why an init container must end, which must. */
    String ofInit(ContainerStatus status) {
        if (status.state() == ContainerState.UNKNOWN) {
            return "Init container is in unknown state, try killing it before restart";
        }
        return "Init container " + status.name()
                + failedProbe(status)
                        .map(probe -> " failed " + probe + " probe")
                        .orElse(" definition changed");
    }

    /** The time that it has to end. One whose probe failed has the time that the probe says. */
    Duration grace(ContainerStatus status) {
        return failed(status).flatMap(ProbeSpec::grace).orElseGet(pod::grace);
    }

    private Optional<String> failedProbe(ContainerStatus status) {
        return failed(status).map(probe -> probe.kind().text().toLowerCase(Locale.ROOT));
    }

    private Optional<ProbeSpec> failed(ContainerStatus status) {
        return health.getOrDefault(status.id(), ContainerHealth.GOOD).failed();
    }
}
