package io.nodekeeper.agent.pleg;

import io.nodekeeper.cri.RuntimeCall;

/**
 * A pod whose inspections time out. Immutable.
 *
 * @param call the call that was not answered at the last attempt
 * @param since when the first of these attempts began, by the monotonic clock in ns
 * @param tries the number of these attempts
 */
public record StuckPod(PodRef pod, RuntimeCall<?> call, long since, int tries) {}
