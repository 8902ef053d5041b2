package io.nodekeeper.agent.config;

import io.nodekeeper.agent.config.file.ConfigFields;
import io.nodekeeper.time.GoDuration;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

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

    private static final Duration SHORTEST = Duration.ofSeconds(1);
    /** More than 30 years. */
    private static final int LONGEST_SECONDS = 999_999_999;

    /**
     * Reads {@code shutdownGracePeriod} and {@code shutdownGracePeriodCriticalPods}, or, instead of both, {@code
     * shutdownGracePeriodByPodPriority}.
     */
    static ShutdownConfig read(ConfigFields fields) {
        Duration total = grace(fields, "shutdownGracePeriod");
        Duration critical = grace(fields, "shutdownGracePeriodCriticalPods");
        List<Group> groups = fields.take(
                        "shutdownGracePeriodByPodPriority",
                        "a list of priority and shutdownGracePeriodSeconds",
                        ShutdownConfig::groups)
                .orElse(List.of());
        if (critical.compareTo(total) > 0) {
            fields.fault("shutdownGracePeriodCriticalPods must be at most shutdownGracePeriod, which is "
                    + GoDuration.format(total) + ", got " + GoDuration.format(critical));
            return NONE;
        }
        if (groups.isEmpty()) {
            return of(total, critical);
        }
        if (!total.isZero() || !critical.isZero()) {
            fields.fault("shutdownGracePeriodByPodPriority excludes shutdownGracePeriod and"
                    + " shutdownGracePeriodCriticalPods");
        }
        return new ShutdownConfig(groups);
    }

    private static Duration grace(ConfigFields fields, String field) {
        return fields.duration(
                        field, "0s, or a duration of 1s or more", set -> set.isZero() || set.compareTo(SHORTEST) >= 0)
                .orElse(Duration.ZERO);
    }

    private static Optional<List<Group>> groups(Object value) {
        return ConfigFields.all(value, ShutdownConfig::group)
                .filter(groups ->
                        groups.stream().map(Group::priority).distinct().count() == groups.size());
    }

    private static Optional<Group> group(Object value) {
        return value instanceof Map<?, ?> map
                        && map.keySet().equals(Set.of("priority", "shutdownGracePeriodSeconds"))
                        && map.get("priority") instanceof Integer priority
                        && map.get("shutdownGracePeriodSeconds") instanceof Integer seconds
                        && seconds >= 0
                        && seconds <= LONGEST_SECONDS
                ? Optional.of(new Group(priority, Duration.ofSeconds(seconds)))
                : Optional.empty();
    }

    /** The groups of {@code shutdownGracePeriod} and {@code shutdownGracePeriodCriticalPods}. */
    private static ShutdownConfig of(Duration total, Duration critical) {
        return total.isZero()
                ? NONE
                : new ShutdownConfig(List.of(new Group(0, total.minus(critical)), new Group(2_000_000_000L, critical)));
    }

    /** How long a shutdown is delayed at most. */
    public Duration total() {
        return groups.stream().map(Group::period).reduce(Duration.ZERO, Duration::plus);
    }
}
