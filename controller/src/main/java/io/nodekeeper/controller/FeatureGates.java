package io.nodekeeper.controller;

import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
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

    /**
     * All gates but for what {@code text} says, as Kubernetes writes it: {@code A=false,B=true}. The name
     * {@code AllAlpha} and the like of Kubernetes are not known here.
     *
     * @param faults each thing that is wrong with {@code text} is added to it
     */
    public static FeatureGates parse(String text, List<String> faults) {
        Set<FeatureGate> on = EnumSet.allOf(FeatureGate.class);
        for (String part : text.split(",")) {
            if (part.isBlank()) {
                continue;
            }
            String[] pair = part.strip().split("=", 2);
            Optional<FeatureGate> gate = Arrays.stream(FeatureGate.values())
                    .filter(known -> known.text().equals(pair[0]))
                    .findFirst();
            boolean isSwitch = pair.length == 2 && (pair[1].equals("true") || pair[1].equals("false"));
            if (gate.isEmpty()) {
                faults.add("--feature-gates: \"" + pair[0] + "\" is no feature gate; expected one of "
                        + Arrays.stream(FeatureGate.values())
                                .map(FeatureGate::text)
                                .collect(Collectors.joining(", ")));
            } else if (!isSwitch) {
                faults.add("--feature-gates: \"" + part.strip() + "\"; expected " + pair[0] + "=true or " + pair[0]
                        + "=false");
            } else if (pair[1].equals("true")) {
                on.add(gate.get());
            } else {
                on.remove(gate.get());
            }
        }
        return new FeatureGates(on);
    }
}
