package io.nodekeeper.agent.calls;

import io.nodekeeper.cri.RuntimeCall;
import java.time.Duration;

/** A call to the runtime that has not been answered. {@code startedAt} is by the monotonic clock in ns. Immutable. */
public record OpenCall(RuntimeCall<?> call, long startedAt, Duration deadline) {}
