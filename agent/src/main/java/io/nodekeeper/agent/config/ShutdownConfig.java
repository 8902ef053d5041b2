package io.nodekeeper.agent.config;

import java.time.Duration;
import java.util.Comparator;
import java.util.List;

/**
 * How long pods may take to end when the machine is shut down. Immutable.
 *
 * @param groups in the order of their priorities; empty if the agent does not delay a shutdown (default)
 */
public record ShutdownConfig(List<Group> groups) {
    /** The kubelet's default. */
    public static final ShutdownConfig NONE = new ShutdownConfig(List.of());

    /**
     * Pods that end together: those whose priority is at least {@code priority}, and lower than that of the next group.
     *
     * @param period the time that they have
     */
    public record Group(long priority, Duration period) {}

    /** Sorts the groups. */
    public ShutdownConfig {
        groups = groups.stream()
                .sorted(Comparator.comparingLong(Group::priority))
                .toList();
    }

    /** The groups of {@code shutdownGracePeriod} and {@code shutdownGracePeriodCriticalPods}. */
    static ShutdownConfig of(Duration total, Duration critical) {
        return total.isZero()
                ? NONE
                : new ShutdownConfig(List.of(new Group(0, total.minus(critical)), new Group(2_000_000_000L, critical)));
    }

    /** How long a shutdown is delayed at most. */
    public Duration total() {
        return groups.stream().map(Group::period).reduce(Duration.ZERO, Duration::plus);
    }
}
