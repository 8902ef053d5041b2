package io.nodekeeper.agent.config;

import java.util.Arrays;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Which gates are open. Immutable.
 *
 * @param on those that are
 */
public record AgentFeatures(Set<AgentFeature> on) {
    /** As they are unless something else is said. */
    public static final AgentFeatures DEFAULT = of(Map.of());

    /** Keeps a copy. */
    public AgentFeatures {
        on = Set.copyOf(on);
    }

    /** The default but for what {@code switches} says, name → open or not; names of other gates do not count. */
    public static AgentFeatures of(Map<String, Boolean> switches) {
        return new AgentFeatures(Arrays.stream(AgentFeature.values())
                .filter(gate -> switches.getOrDefault(gate.text(), gate.byDefault()))
                .collect(Collectors.toSet()));
    }

    /** Whether {@code gate} is open. */
    public boolean has(AgentFeature gate) {
        return on.contains(gate);
    }
}
