package io.nodekeeper.it.faults;

import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * What was seen of one generated fault.
 *
 * @param shortage the share of the observation in which a thread of the agent waited for a processor
 * @param effect whether something really hung or failed; a fault without effect does not count
 * @param seconds from when on the agent was right
 * @param falselyCertain what was said with confidence "certain" at any time and is not true
 * @param harsh remedies of true accusations although a milder one exists
 * @param healed whether the doctor removed the cause; empty if it was not asked to
 * @param harm processes that did not survive, or pods
 * @param restart what the agent said in the 60 s after it was started again, if it was
 * @param spent what took how long, for the log
 */
record FaultResult(
        GeneratedFault fault,
        String truth,
        boolean effect,
        double shortage,
        Judgement.Verdict verdict,
        Optional<Double> seconds,
        List<Named> named,
        List<String> falselyCertain,
        List<String> harsh,
        Optional<Boolean> healed,
        List<String> harm,
        Optional<RestartStory> restart,
        String spent) {
    /** With less processor time than this an agent that looks every 2 s misses whole looks. */
    private static final double TOO_SHORT = 0.25;

    /** Whether it says something about the diagnosis: something hung, and the agent could run. */
    boolean counts() {
        return effect && !starved();
    }

    /** Whether the machine was so busy with other things that the agent could not look. */
    boolean starved() {
        return shortage > TOO_SHORT;
    }

    private String shown() {
        if (!effect) {
            return "no effect";
        }
        return starved()
                ? String.format(
                        Locale.ROOT,
                        "not counted, the agent waited for a processor in %.0f %% of the time (%s)",
                        100 * shortage,
                        verdict.text())
                : verdict.text();
    }

    /** A line of Markdown. */
    String row() {
        return String.format(
                Locale.ROOT,
                "| %d | %s | %s | %s | %s | %s | %s | %s | %s | %s |%n",
                fault.number(),
                brief(fault.text()),
                brief(truth),
                shown(),
                named.isEmpty()
                        ? "–"
                        : brief(named.getFirst().reason() + ": "
                                + named.getFirst().summary()),
                seconds.map(value -> String.format(Locale.ROOT, "%.1f s", value))
                        .orElse("–"),
                named.isEmpty() ? "–" : named.getFirst().confidence(),
                named.isEmpty() ? "–" : brief(named.getFirst().remedy()),
                healed.map(yes -> yes ? "yes" : "no").orElse("–")
                        + (healed.isPresent() ? ", " + fault.healer().text() : ""),
                harm.isEmpty() ? "none" : brief(String.join(", ", harm)));
    }

    /** All that is needed to see why, for a file. */
    String details() {
        return fault.number() + ". " + fault.text() + "\n  truth: " + truth + "\n  verdict: " + shown()
                + "\n  " + spent
                + falselyCertain.stream()
                        .map(one -> "\n  CERTAIN AND FALSE: " + one)
                        .collect(Collectors.joining())
                + harsh.stream().map(one -> "\n  HARSH: " + one).collect(Collectors.joining())
                + harm.stream().map(one -> "\n  HARM: " + one).collect(Collectors.joining())
                + named.stream()
                        .map(one -> "\n  named: " + one.reason() + " (" + one.confidence() + ") "
                                + one.pid().map(pid -> "pid " + pid + " ").orElse("")
                                + one.pod().orElse("") + ": " + one.summary() + "\n    evidence: "
                                + String.join("\n    evidence: ", one.evidence()) + "\n    remedy: " + one.remedy())
                        .collect(Collectors.joining())
                + "\n";
    }

    /** The contents of a cell, without what differs between runs. */
    static String brief(String text) {
        String line = text.replaceAll("/\\S*/(?=scene-|containerd)", ".../")
                .replaceAll("[0-9a-f]{13,64}", "ID")
                .replaceAll("20\\d\\d-\\d\\d-\\d\\dT[0-9:.]+Z", "TIME")
                .replaceAll("\\s+", " ")
                .replace("|", "\\|");
        return line.length() > 160 ? line.substring(0, 160) + "…" : line;
    }
}
