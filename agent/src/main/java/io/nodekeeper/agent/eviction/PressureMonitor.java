package io.nodekeeper.agent.eviction;

import io.nodekeeper.agent.facts.Level;
import java.time.Duration;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;

/**
 * Decides which pressures the node is under. A pressure starts as soon as one of its thresholds is met, without the
 * threshold's grace period, and lasts until no threshold has been met for the transition period. Pods are evicted for a
 * threshold that was met for its grace period, until as much more is left as it says. A signal without a measurement changes
 * nothing and evicts nothing: its thresholds keep their state, and {@link #unmeasured} names the signal once that lasts. Not
 * thread-safe.
 */
public final class PressureMonitor {
    /** Three rounds: one slow answer of a busy disk is no failure to report. */
    static final Duration PATIENCE = Duration.ofSeconds(30);

    private final List<Threshold> thresholds;
    private final Duration transitionPeriod;
    /** Since when each threshold is met. Monotonic ns. */
    private final Map<Threshold, Long> met = new LinkedHashMap<>();

    /** The thresholds that have been met for their grace period. */
    private final Set<Threshold> passed = new LinkedHashSet<>();

    private List<Shortage> shortages = List.of();
    private final Map<Pressure, Long> lastSeen = new EnumMap<>(Pressure.class);
    private final Map<EvictionSignal, Long> missingSince = new EnumMap<>(EvictionSignal.class);

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
                missingSince.putIfAbsent(threshold.signal(), nowNanos);
                continue;
            }
            missingSince.remove(threshold.signal());
            if (threshold.metBy(level) || passed.contains(threshold) && threshold.heldBy(level)) {
                met.putIfAbsent(threshold, nowNanos);
            } else {
                met.remove(threshold);
            }
        }
        met.keySet().forEach(threshold -> lastSeen.put(threshold.signal().pressure(), nowNanos));
        passed.clear();
        met.forEach((threshold, since) -> {
            if (nowNanos - since >= threshold.grace().toNanos()) {
                passed.add(threshold);
            }
        });
        shortages = passed.stream()
                .flatMap(threshold -> Optional.ofNullable(levels.get(threshold.signal()))
                        .map(level -> new Shortage(threshold, level, nowNanos))
                        .stream())
                // Memory first: the kernel will soon kill a process.
                .sorted(Comparator.comparing(
                        shortage -> shortage.threshold().signal().pressure() != Pressure.MEMORY))
                .toList();
        lastSeen.values().removeIf(seen -> nowNanos - seen >= transitionPeriod.toNanos() && seen != nowNanos);
        return lastSeen.isEmpty() ? EnumSet.noneOf(Pressure.class) : EnumSet.copyOf(lastSeen.keySet());
    }

    /**
     * When the next pressure ends if no threshold is met until then, by the monotonic clock; empty if none can end.
     * To be called after {@link #observe}.
     */
    public OptionalLong nextEnd() {
        Set<Pressure> present = EnumSet.noneOf(Pressure.class);
        met.keySet().forEach(threshold -> present.add(threshold.signal().pressure()));
        return lastSeen.entrySet().stream()
                .filter(entry -> !present.contains(entry.getKey()))
                .mapToLong(entry -> entry.getValue() + transitionPeriod.toNanos())
                .min();
    }

    /** For what pods are to be evicted since the last {@link #observe}, the most urgent first. */
    public List<Shortage> shortages() {
        return shortages;
    }

    /** The signals of thresholds that have had no measurement for 30 s at {@code nowNanos}, in their usual order. */
    public List<EvictionSignal> unmeasured(long nowNanos) {
        return missingSince.entrySet().stream()
                .filter(entry -> nowNanos - entry.getValue() >= PATIENCE.toNanos())
                .map(Map.Entry::getKey)
                .toList();
    }
}
