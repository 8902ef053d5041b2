package io.nodekeeper.agent.eviction;

import io.nodekeeper.agent.facts.Level;
import io.nodekeeper.api.Quantity;
import java.time.Duration;

/**
 * A limit below which a signal raises its condition.
 *
 * @param signal the signal
 * @param limit the amount that must be left
 * @param grace how long a soft threshold is met before pods are evicted; zero for a hard one
 * @param byDefault whether the limit is Kubernetes' default rather than the configuration's
 * @param reclaim how much more must be left before the node stops to evict pods
 */
public record Threshold(EvictionSignal signal, Limit limit, Duration grace, boolean byDefault, Limit reclaim) {
    /** Nothing more must be left. */
    static final Limit NO_RECLAIM = new Amount(Quantity.ZERO);

    /** The amount that must be left. */
    public sealed interface Limit {
        /** The amount for a total of {@code capacity}. */
        long of(long capacity);
    }

    /** A fixed amount. */
    public record Amount(Quantity quantity) implements Limit {
        @Override
        public long of(long capacity) {
            return quantity.toLong();
        }
    }

    /**
     * A share of the capacity, in single precision as in Kubernetes: 10 % of 107374182400 are 10737418400, and the
     * scheduler of a mixed fleet must see the same value on every node.
     *
     * @param fraction 0 to 1
     */
    public record Share(float fraction) implements Limit {
        @Override
        public long of(long capacity) {
            return (long) (capacity * (double) fraction);
        }
    }

    /** Whether it is a hard threshold; its amount is also subtracted from allocatable. */
    public boolean hard() {
        return grace.isZero();
    }

    /** Whether {@code level} is below the limit; exactly at the limit is fine. */
    boolean metBy(Level level) {
        return level.available() < limit.of(level.capacity());
    }

    /** Whether {@code level} is still too low once pods have been evicted: as much as {@link #reclaim} must be left besides. */
    boolean heldBy(Level level) {
        return level.available() < limit.of(level.capacity()) + reclaim.of(level.capacity());
    }

    /** The limit for {@code level} as Kubernetes shows it. */
    public Quantity quantity(Level level) {
        return limit instanceof Amount(Quantity quantity)
                ? quantity
                : Quantity.of(limit.of(level.capacity()), Quantity.Format.BINARY_SI);
    }
}
