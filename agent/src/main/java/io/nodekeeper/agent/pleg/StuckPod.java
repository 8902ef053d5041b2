package io.nodekeeper.agent.pleg;

import io.nodekeeper.cri.RuntimeCall;

/**
 * A pod whose inspection runs out of time. Immutable.
 *
 * @param call the one that was not answered at the last try
 * @param since when the first of these tries began, by the monotonic clock in ns
 * @param tries how many there were
 */
public record StuckPod(PodRef pod, RuntimeCall<?> call, long since, int tries) {}
