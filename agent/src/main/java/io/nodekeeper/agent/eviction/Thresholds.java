package io.nodekeeper.agent.eviction;

import io.nodekeeper.api.Quantity;
import io.nodekeeper.time.GoDuration;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;

/** Parses eviction thresholds, with Kubernetes' defaults and error messages. Stateless. */
public final class Thresholds {
    /** Kubernetes 1.32's hard thresholds on Linux. There is none for pid.available. */
    static final Map<String, String> DEFAULTS = defaults();

    private Thresholds() {}

    /**
     * Reads the thresholds of a configuration.
     *
     * @param hard {@code evictionHard}; one entry drops every other default unless {@code mergeDefaults}
     * @param hardSet whether {@code evictionHard} was set at all
     * @param reclaim {@code evictionMinimumReclaim}
     * @param faults receives the errors
     */
    public static List<Threshold> read(
            Map<String, String> hard,
            boolean hardSet,
            boolean mergeDefaults,
            Map<String, String> soft,
            Map<String, String> softGrace,
            Map<String, String> reclaim,
            List<String> faults) {
        Map<String, Threshold.Limit> reclaims = new LinkedHashMap<>();
        reclaim.forEach(
                (signal, value) -> reclaim(signal, value, faults).ifPresent(limit -> reclaims.put(signal, limit)));
        Map<String, String> all = new LinkedHashMap<>(hardSet && !mergeDefaults ? Map.of() : DEFAULTS);
        all.putAll(hard);
        List<Threshold> thresholds = new ArrayList<>();
        all.forEach((signal, value) -> one(signal, value, Duration.ZERO, !hard.containsKey(signal), faults)
                .ifPresent(thresholds::add));
        soft.forEach((signal, value) -> {
            Duration grace = grace(signal, softGrace, faults);
            one(signal, value, grace, false, faults).ifPresent(thresholds::add);
        });
        return thresholds.stream()
                .map(threshold -> new Threshold(
                        threshold.signal(),
                        threshold.limit(),
                        threshold.grace(),
                        threshold.byDefault(),
                        reclaims.getOrDefault(threshold.signal().toString(), Threshold.NO_RECLAIM)))
                .toList();
    }

    private static Optional<Threshold.Limit> reclaim(String signal, String value, List<String> faults) {
        if (EvictionSignal.named(signal).isEmpty()) {
            faults.add("unsupported eviction signal " + signal);
            return Optional.empty();
        }
        try {
            if (value.endsWith("%")) {
                float percent = Float.parseFloat(value.substring(0, value.length() - 1));
                if (!(percent > 0)) {
                    faults.add("eviction percentage minimum reclaim " + signal + " must be positive: " + value);
                    return Optional.empty();
                }
                return Optional.of(new Threshold.Share(percent / 100f));
            }
            Quantity quantity = Quantity.parse(value);
            if (quantity.isNegative()) {
                faults.add("negative eviction minimum reclaim specified for " + signal);
                return Optional.empty();
            }
            return Optional.of(new Threshold.Amount(quantity));
        } catch (IllegalArgumentException e) {
            faults.add("eviction minimum reclaim " + signal + " must be a quantity or a percentage: " + value);
            return Optional.empty();
        }
    }

    /** The thresholds of a node; without a container runtime the default thresholds of the images have no meaning. */
    public static List<Threshold> applicable(List<Threshold> thresholds, boolean runtime) {
        return thresholds.stream()
                .filter(threshold ->
                        runtime || !threshold.byDefault() || !threshold.signal().needsRuntime())
                .toList();
    }

    /**
     * The same, and for the hard threshold of {@code memory.available} one of the memory that pods may use, as a kubelet adds
     * it if it limits that memory. Unless there is one already.
     */
    public static List<Threshold> withAllocatable(List<Threshold> thresholds) {
        List<Threshold> all = new ArrayList<>(thresholds);
        boolean configured = thresholds.stream()
                .anyMatch(threshold -> threshold.hard() && threshold.signal().needsPodCgroup());
        thresholds.stream()
                .filter(threshold ->
                        !configured && threshold.hard() && threshold.signal() == EvictionSignal.MEMORY_AVAILABLE)
                .map(threshold -> new Threshold(
                        EvictionSignal.ALLOCATABLE_MEMORY_AVAILABLE,
                        threshold.limit(),
                        threshold.grace(),
                        true,
                        threshold.reclaim()))
                .forEach(all::add);
        return List.copyOf(all);
    }

    /**
     * The configured thresholds whose signals this machine cannot measure, one message for each.
     *
     * @param runtime whether the node has a container runtime
     * @param podMemoryFault why the memory of pods cannot be measured; empty if it can
     */
    public static List<String> unmeasurable(
            List<Threshold> thresholds, boolean runtime, Supplier<Optional<String>> podMemoryFault) {
        List<String> faults = new ArrayList<>();
        for (Threshold threshold : applicable(thresholds, runtime)) {
            if (!runtime && threshold.signal().needsRuntime()) {
                faults.add("eviction threshold " + threshold.signal()
                        + " cannot be measured: the node has no container runtime that reports where the images are;"
                        + " remove the threshold or set containerRuntimeEndpoint");
            }
            if (threshold.signal().needsPodCgroup() && !threshold.byDefault()) {
                podMemoryFault
                        .get()
                        .ifPresent(why -> faults.add("eviction threshold " + threshold.signal()
                                + " cannot be measured: " + why + "; remove the threshold or create the cgroup"));
            }
        }
        return faults;
    }

    private static Duration grace(String signal, Map<String, String> graces, List<String> faults) {
        String text = graces.get(signal);
        if (text == null) {
            faults.add("grace period must be specified for the soft eviction threshold " + signal);
            return Duration.ofNanos(1);
        }
        try {
            Duration grace = GoDuration.parse(text);
            if (grace.isPositive()) {
                return grace;
            }
        } catch (IllegalArgumentException e) {
            // Kubernetes has the same message for text that is no duration and for durations that are not positive.
        }
        faults.add("invalid eviction grace period specified: " + text + ", must be a positive value");
        return Duration.ofNanos(1);
    }

    private static Optional<Threshold> one(
            String name, String value, Duration grace, boolean byDefault, List<String> faults) {
        Optional<EvictionSignal> signal = EvictionSignal.named(name);
        if (signal.isEmpty()) {
            faults.add("unsupported eviction signal " + name);
            return Optional.empty();
        }
        // Kubernetes' way to disable a threshold.
        if (value.equals("0%") || value.equals("100%")) {
            return Optional.empty();
        }
        return (value.endsWith("%") ? share(name, value, faults) : amount(name, value, faults))
                .map(limit -> new Threshold(signal.get(), limit, grace, byDefault, Threshold.NO_RECLAIM));
    }

    private static Optional<Threshold.Limit> share(String name, String value, List<String> faults) {
        float percent;
        try {
            percent = Float.parseFloat(value.substring(0, value.length() - 1));
        } catch (NumberFormatException e) {
            faults.add("eviction threshold " + name + " must be a percentage like 10%: " + value);
            return Optional.empty();
        }
        float fraction = percent / 100f;
        if (Float.isNaN(fraction) || fraction < 0) {
            faults.add("eviction percentage threshold " + name + " must be >= 0%: " + value);
            return Optional.empty();
        }
        if (fraction > 1) {
            faults.add("eviction percentage threshold " + name + " must be <= 100%: " + value);
            return Optional.empty();
        }
        return Optional.of(new Threshold.Share(fraction));
    }

    private static Optional<Threshold.Limit> amount(String name, String value, List<String> faults) {
        Quantity quantity;
        try {
            quantity = Quantity.parse(value);
        } catch (IllegalArgumentException e) {
            faults.add("eviction threshold " + name + ": " + e.getMessage());
            return Optional.empty();
        }
        if (quantity.isZero() || quantity.isNegative()) {
            faults.add("eviction threshold " + name + " must be positive: " + quantity);
            return Optional.empty();
        }
        return Optional.of(new Threshold.Amount(quantity));
    }

    private static Map<String, String> defaults() {
        Map<String, String> map = new LinkedHashMap<>();
        map.put("memory.available", "100Mi");
        map.put("nodefs.available", "10%");
        map.put("nodefs.inodesFree", "5%");
        map.put("imagefs.available", "15%");
        map.put("imagefs.inodesFree", "5%");
        return map;
    }
}
