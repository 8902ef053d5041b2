package io.nodekeeper.api;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Parses feature gates in the form of Kubernetes' flag {@code --feature-gates}: {@code A=false,B=true}. */
public final class GateSwitches {
    private GateSwitches() {}

    /**
     * The value of each named gate; the last value of a gate counts. Groups such as {@code AllAlpha} are not supported.
     * @param known the names of all gates
     * @param faults receives each fault of {@code text}
     */
    public static Map<String, Boolean> parse(String text, List<String> known, List<String> faults) {
        Map<String, Boolean> switches = new LinkedHashMap<>();
        for (String part : text.split(",")) {
            if (part.isBlank()) {
                continue;
            }
            String[] pair = part.strip().split("=", 2);
            boolean isSwitch = pair.length == 2 && (pair[1].equals("true") || pair[1].equals("false"));
            if (!known.contains(pair[0])) {
                faults.add("--feature-gates: \"" + pair[0] + "\" is no feature gate; expected one of "
                        + String.join(", ", known));
            } else if (!isSwitch) {
                faults.add("--feature-gates: \"" + part.strip() + "\"; expected " + pair[0] + "=true or " + pair[0]
                        + "=false");
            } else {
                switches.put(pair[0], pair[1].equals("true"));
            }
        }
        return switches;
    }
}
