package io.nodekeeper.agent.calls;

import io.nodekeeper.cri.RuntimeCall;

/**
 * A call that the runtime answers with an error. Immutable.
 *
 * @param since the start of the first attempt that was refused, monotonic ns
 * @param tries how many attempts in a row were refused
 * @param error the newest error message
 */
public record RefusedCall(RuntimeCall<?> call, long since, int tries, String error) {}
