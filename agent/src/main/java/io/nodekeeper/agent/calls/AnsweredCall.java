package io.nodekeeper.agent.calls;

import io.nodekeeper.cri.RuntimeCall;

/**
 * A call that the runtime answered, with an error or not. Immutable.
 *
 * @param startedAt monotonic ns
 * @param endedAt monotonic ns
 */
public record AnsweredCall(RuntimeCall<?> call, long startedAt, long endedAt) {}
