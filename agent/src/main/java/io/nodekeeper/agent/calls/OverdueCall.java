package io.nodekeeper.agent.calls;

import io.nodekeeper.cri.RuntimeCall;

/**
 * A question that does not get its answer: the call is late, or its last tries ran out of time. Immutable.
 *
 * @param call the newest try
 * @param since when the first of the tries began, by the monotonic clock in ns
 * @param tries how many ran out of time, the one under way not counted
 */
public record OverdueCall(RuntimeCall<?> call, long since, int tries) {}
