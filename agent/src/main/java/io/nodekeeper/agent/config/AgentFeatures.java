package io.nodekeeper.agent.config;

import java.util.Arrays;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * The state of the agent's feature gates. Immutable.
 *
 * @param on the enabled gates
 */
public record AgentFeatures(Set<AgentFeature> on) {
    /** Every gate in its default state. */
    public static final AgentFeatures DEFAULT = of(Map.of());

    /** Keeps a copy. */
    public AgentFeatures {
        on = Set.copyOf(on);
    }

    /** The defaults, overridden by {@code switches} (name → enabled); names of other gates are ignored. */
    public static AgentFeatures of(Map<String, Boolean> switches) {
        return new AgentFeatures(Arrays.stream(AgentFeature.values())
                .filter(gate -> switches.getOrDefault(gate.text(), gate.byDefault()))
                .collect(Collectors.toSet()));
    }

    /** Whether {@code gate} is enabled. */
    public boolean has(AgentFeature gate) {
        return on.contains(gate);
    }
}
