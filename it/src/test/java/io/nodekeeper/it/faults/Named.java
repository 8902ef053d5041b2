package io.nodekeeper.it.faults;

import io.nodekeeper.api.json.JsonObject;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * A culprit as the agent shows it.
 *
 * @param confidence in lower case
 */
record Named(
        String reason,
        String summary,
        String confidence,
        Optional<Long> pid,
        Optional<String> pod,
        List<String> evidence,
        String remedy) {
    /** Reads an entry of {@code culprits} or {@code loads} of the agent's page. */
    static Named of(JsonObject culprit) {
        return new Named(
                culprit.text("reason"),
                culprit.text("summary"),
                culprit.text("confidence").toLowerCase(Locale.ROOT),
                culprit.object("process").number("pid"),
                Optional.of(culprit.text("pod")).filter(pod -> !pod.isEmpty()),
                culprit.array("evidence").strings().toList(),
                culprit.text("remedy"));
    }

    /** Everything that it says. */
    String text() {
        return reason + "\n" + summary + "\n" + String.join("\n", evidence);
    }

    /** Whether it says that the kernel or the runtime shows the cause. */
    boolean certain() {
        return confidence.equals("certain");
    }

    /** Whether it says that nothing explains what hangs. */
    boolean unknown() {
        return confidence.equals("unknown");
    }
}
