package io.nodekeeper.controller.config;

import java.util.Arrays;
import java.util.EnumSet;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * The set of enabled gates. Immutable.
 *
 * @param on the enabled gates
 */
public record FeatureGates(Set<ControllerFeature> on) {
    /** All gates enabled. */
    public static final FeatureGates ALL = new FeatureGates(EnumSet.allOf(ControllerFeature.class));
    /** No gate enabled: Kubernetes' reference behaviour. */
    public static final FeatureGates REFERENCE = new FeatureGates(EnumSet.noneOf(ControllerFeature.class));

    /** Keeps a copy. */
    public FeatureGates {
        on = Set.copyOf(on);
    }

    /** Whether {@code gate} is enabled. */
    public boolean has(ControllerFeature gate) {
        return on.contains(gate);
    }

    /** The same with one gate disabled. */
    public FeatureGates without(ControllerFeature gate) {
        return new FeatureGates(on.stream().filter(other -> other != gate).collect(Collectors.toSet()));
    }

    /** All gates, except as {@code switches} says (name → enabled); ignores unknown names. */
    public static FeatureGates of(Map<String, Boolean> switches) {
        return new FeatureGates(Arrays.stream(ControllerFeature.values())
                .filter(gate -> switches.getOrDefault(gate.text(), true))
                .collect(Collectors.toSet()));
    }
}
