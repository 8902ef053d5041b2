package io.nodekeeper.apiserver.flowcontrol;

import io.nodekeeper.apiserver.eventratelimit.EventLimits;
import java.time.Duration;

/**
 * The limits of concurrent requests. Immutable.
 *
 * @param reads the most concurrent gets and lists (kube-apiserver's {@code --max-requests-inflight})
 * @param writes the most concurrent writes (kube-apiserver's {@code --max-mutating-requests-inflight})
 * @param heartbeats the most concurrent heartbeats, in addition to these: renewals of leases and statuses of nodes
 * @param listsAtOnce the most large lists that are created concurrently
 * @param timeout the time limit of a request other than a watch
 * @param events the rate limits of Events
 */
public record FlowControlOptions(
        int reads, int writes, int heartbeats, int listsAtOnce, Duration timeout, EventLimits events) {
    /**
     * Kubernetes' numbers. As many heartbeats as fill several group commits; two lists, because more would only compete
     * for a few cores.
     */
    public static final FlowControlOptions DEFAULT = new FlowControlOptions(400, 200, 1_000, 2, Duration.ofSeconds(60));

    /** With the default limits for Events. */
    public FlowControlOptions(int reads, int writes, int heartbeats, int listsAtOnce, Duration timeout) {
        this(reads, writes, heartbeats, listsAtOnce, timeout, EventLimits.DEFAULT);
    }

    /** The same with other limits for Events. */
    public FlowControlOptions events(EventLimits other) {
        return new FlowControlOptions(reads, writes, heartbeats, listsAtOnce, timeout, other);
    }

    /** Checks the numbers. */
    public FlowControlOptions {
        if (reads < 1 || writes < 1 || heartbeats < 1 || listsAtOnce < 1 || timeout.isNegative() || timeout.isZero()) {
            throw new IllegalArgumentException("expected numbers of 1 and more, and a time above 0, given: " + reads
                    + ", " + writes + ", " + heartbeats + ", " + listsAtOnce + ", " + timeout);
        }
    }
}
