package io.nodekeeper.agent.pods.probes;

import io.nodekeeper.agent.pods.model.Action;
import io.nodekeeper.agent.pods.model.ContainerSpec;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;

/** Runs actions of probes and hooks. Confined to a loop. */
public interface Prober {

    /**
     * What an action is about. Immutable.
     *
     * @param containerId the runtime's id
     * @param podIp the pod's address; empty if it has none yet
     */
    record Target(String containerId, ContainerSpec container, String podIp) {}

    /**
     * Runs {@code action}, which has failed after {@code timeout}. The result arrives on the loop and never fails; cancelling
     * it abandons the action.
     */
    CompletableFuture<ProbeResult> run(Target target, Action action, Duration timeout);
}
