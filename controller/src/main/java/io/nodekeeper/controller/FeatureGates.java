package io.nodekeeper.controller;

import java.util.Arrays;
import java.util.EnumSet;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Which gates are open. Immutable.
 *
 * @param on those that are
 */
public record FeatureGates(Set<FeatureGate> on) {
    /** Everything that this controller can do. */
    public static final FeatureGates ALL = new FeatureGates(EnumSet.allOf(FeatureGate.class));
    /** Kubernetes' reference behaviour. */
    public static final FeatureGates REFERENCE = new FeatureGates(EnumSet.noneOf(FeatureGate.class));

    /** Keeps a copy. */
    public FeatureGates {
        on = Set.copyOf(on);
    }

    /** Whether {@code gate} is open. */
    public boolean has(FeatureGate gate) {
        return on.contains(gate);
    }

    /** These, with one closed. */
    public FeatureGates without(FeatureGate gate) {
        return new FeatureGates(on.stream().filter(other -> other != gate).collect(Collectors.toSet()));
    }

    /** All gates but for what {@code switches} says, name → open or not; names of other gates do not count. */
    public static FeatureGates of(Map<String, Boolean> switches) {
        return new FeatureGates(Arrays.stream(FeatureGate.values())
                .filter(gate -> switches.getOrDefault(gate.text(), true))
                .collect(Collectors.toSet()));
    }
}
