package io.nodekeeper.agent.eviction;

import io.nodekeeper.agent.facts.Level;
import java.time.Duration;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Decides which pressures the node is under. A pressure starts as soon as one of its thresholds is met, without the
 * threshold's grace period, and lasts until no threshold has been met for the transition period. A signal without a
 * measurement changes nothing: its thresholds keep their state. Not thread-safe.
 */
public final class PressureMonitor {
    private final List<Threshold> thresholds;
    private final Duration transitionPeriod;
    private final Set<Threshold> met = new HashSet<>();
    private final Map<Pressure, Long> lastSeen = new EnumMap<>(Pressure.class);

    public PressureMonitor(List<Threshold> thresholds, Duration transitionPeriod) {
        this.thresholds = List.copyOf(thresholds);
        this.transitionPeriod = transitionPeriod;
    }

    /**
     * Evaluates all thresholds.
     *
     * @param levels the signals that could be measured
     * @param nowNanos the monotonic time
     */
    public Set<Pressure> observe(Map<EvictionSignal, Level> levels, long nowNanos) {
        for (Threshold threshold : thresholds) {
            Level level = levels.get(threshold.signal());
            if (level == null) {
                // Not measured: the last state stays.
            } else if (threshold.metBy(level)) {
                met.add(threshold);
            } else {
                met.remove(threshold);
            }
        }
        met.forEach(threshold -> lastSeen.put(threshold.signal().pressure(), nowNanos));
        lastSeen.values().removeIf(seen -> nowNanos - seen >= transitionPeriod.toNanos() && seen != nowNanos);
        return lastSeen.isEmpty() ? EnumSet.noneOf(Pressure.class) : EnumSet.copyOf(lastSeen.keySet());
    }
}
