package io.nodekeeper.agent.calls;

import io.nodekeeper.cri.RuntimeCall;

/**
 * A call to the runtime that is not answered: it is still in progress, or its last attempts timed out. Immutable.
 *
 * @param call the newest attempt
 * @param since the start of the first attempt, monotonic ns; for a call in progress, when it became late
 * @param tries how many attempts timed out, not counting one in progress
 * @param attemptAt the start of the newest attempt that timed out; of the one in progress if none did
 * @param attemptEnd the end of that attempt; now if it is in progress
 */
public record OverdueCall(RuntimeCall<?> call, long since, int tries, long attemptAt, long attemptEnd) {}
