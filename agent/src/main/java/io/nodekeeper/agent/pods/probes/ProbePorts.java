package io.nodekeeper.agent.pods.probes;

import io.nodekeeper.time.Loop;
import java.util.random.RandomGenerator;

/**
 * The collaborators of probes and hooks, shared by all pods of a node.
 *
 * @param actions runs the actions of hooks
 * @param probes runs the actions of probes, a bounded number of each pod at the same time
 * @param loop on which results arrive
 */
public record ProbePorts(
        Prober actions, BoundedProber probes, Loop loop, RandomGenerator random, ProbeMetrics metrics) {

    /** Ports whose probes all wait for the same places. */
    public static ProbePorts of(Prober actions, Loop loop, RandomGenerator random, ProbeMetrics metrics) {
        return new ProbePorts(actions, new BoundedProber(actions), loop, random, metrics);
    }
}
