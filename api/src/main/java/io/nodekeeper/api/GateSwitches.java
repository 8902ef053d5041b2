package io.nodekeeper.api;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Feature gates as Kubernetes' flag {@code --feature-gates} writes them: {@code A=false,B=true}. */
public final class GateSwitches {
    private GateSwitches() {}

    /**
     * What {@code text} says of each gate that it names; the last one counts. {@code AllAlpha} and the like are not known.
     *
     * @param known the names that there are
     * @param faults each thing that is wrong with {@code text} is added to it
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
