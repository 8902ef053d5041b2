package io.nodekeeper.agent;

import java.util.Arrays;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Which gates are open. Immutable.
 *
 * @param on those that are
 */
public record FeatureGates(Set<FeatureGate> on) {
    /** As they are unless something else is said. */
    public static final FeatureGates DEFAULT = of(Map.of());

    /** Keeps a copy. */
    public FeatureGates {
        on = Set.copyOf(on);
    }

    /** The default but for what {@code switches} says, name → open or not; names of other gates do not count. */
    public static FeatureGates of(Map<String, Boolean> switches) {
        return new FeatureGates(Arrays.stream(FeatureGate.values())
                .filter(gate -> switches.getOrDefault(gate.text(), gate.byDefault()))
                .collect(Collectors.toSet()));
    }

    /** Whether {@code gate} is open. */
    public boolean has(FeatureGate gate) {
        return on.contains(gate);
    }
}
