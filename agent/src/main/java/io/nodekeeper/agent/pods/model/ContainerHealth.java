package io.nodekeeper.agent.pods.model;

import java.util.Optional;

/**
 * What the probes of one running container say. Immutable.
 *
 * @param started whether it has started; true without a startup probe
 * @param ready whether it may get traffic; true without a readiness probe
 * @param failed the probe for which it must end
 */
public record ContainerHealth(boolean started, boolean ready, Optional<ProbeSpec> failed) {
    /** The health of a container without probes. */
    public static final ContainerHealth GOOD = new ContainerHealth(true, true, Optional.empty());
}
