package io.nodekeeper.agent.calls;

import io.nodekeeper.cri.RuntimeCall;

/**
 * A call without an answer: it is under way, or its last attempts timed out. Immutable.
 *
 * @param call the newest attempt
 * @param since the start of the first attempt, monotonic ns
 * @param tries how many attempts timed out, without the one under way
 */
public record OverdueCall(RuntimeCall<?> call, long since, int tries) {}
