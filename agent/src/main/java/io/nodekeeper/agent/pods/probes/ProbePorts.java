package io.nodekeeper.agent.pods.probes;

import io.nodekeeper.time.Loop;
import java.util.random.RandomGenerator;

/**
 * The collaborators of probes and hooks, shared by all pods of a node.
 *
 * @param actions runs the actions of hooks
 * @param probes runs the actions of probes, a bounded number at the same time
 * @param loop on which results arrive
 */
public record ProbePorts(Prober actions, Prober probes, Loop loop, RandomGenerator random, ProbeMetrics metrics) {

    /** Ports whose probes share {@link BoundedProber#MOST} places. */
    public static ProbePorts of(Prober actions, Loop loop, RandomGenerator random, ProbeMetrics metrics) {
        return new ProbePorts(actions, new BoundedProber(actions, BoundedProber.MOST), loop, random, metrics);
    }
}
