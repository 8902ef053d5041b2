package io.nodekeeper.simulator.tune;

import io.nodekeeper.api.json.JsonArray;
import io.nodekeeper.api.json.JsonNumber;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.api.json.JsonValue;
import io.nodekeeper.time.GoDuration;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.BooleanSupplier;

/**
 * Candidates that were tried on the same faults, in the order in which they were given.
 *
 * @param source the faults, for people
 * @param soon a node that sent a heartbeat this soon after its verdict would better have been left alone
 * @param wanted the number of candidates
 * @param trials those that were tried to the end
 */
public record TuneReport(String source, Duration soon, int wanted, List<Trial> trials) {
    /** Tries a candidate. */
    public interface Test<E extends Exception> {
        /** The trial; empty if it was asked to end before. */
        Optional<Trial> run(Candidate candidate) throws E;
    }

    /** Tries all candidates, one after the other, or until it is asked to end. */
    public static <E extends Exception> TuneReport of(
            String source, Duration soon, List<Candidate> candidates, Test<E> test, BooleanSupplier ended) throws E {
        List<Trial> trials = new ArrayList<>();
        for (Candidate candidate : candidates) {
            Optional<Trial> trial = ended.getAsBoolean() ? Optional.empty() : test.run(candidate);
            if (trial.isEmpty()) {
                break;
            }
            trials.add(trial.get());
        }
        return new TuneReport(source, soon, candidates.size(), trials);
    }

    public boolean isPartial() {
        return trials.size() < wanted;
    }

    /** Whether no candidate broke a rule. */
    public boolean isGood() {
        return trials.stream().allMatch(trial -> trial.violations() == 0);
    }

    /** Whether it broke no rule, and no other candidate is better in one respect and worse in none. */
    private boolean isBest(Trial trial) {
        return trial.violations() == 0 && trials.stream().noneMatch(trial::isBeatenBy);
    }

    /** The report as text: a row for each candidate. */
    public String text() {
        StringBuilder text = new StringBuilder();
        if (isPartial()) {
            text.append("PARTIAL: interrupted after " + trials.size() + " of " + wanted + " candidates\n");
        }
        text.append(source + "\n\n");
        text.append(String.format(
                "  %-12s  %-12s  %-10s  %-16s  %-9s  %-10s  %s%n",
                "silence p50",
                "silence p99",
                "verdicts",
                "back within " + GoDuration.format(soon).replace("m0s", "m"),
                "evictions",
                "renewals/s",
                "flags"));
        for (Trial trial : trials) {
            text.append(String.format(
                    Locale.ROOT,
                    "%s %-12s  %-12s  %-10d  %-16d  %-9s  %-10.3f  %s%s%n",
                    isBest(trial) ? "*" : " ",
                    trial.figures().silence(trial.figures().p50()),
                    trial.figures().silence(trial.figures().p99()),
                    trial.figures().verdicts(),
                    trial.figures().back(),
                    trial.evictions().map(String::valueOf).orElse("-"),
                    trial.renewals(),
                    trial.candidate().flags(),
                    trial.violations() == 0 ? "" : "  (broke a rule " + trial.violations() + " times)"));
        }
        return text.append("""

                silence      how long a node had sent no heartbeat when it was declared Unknown
                back within  nodes that sent one so soon after that they would better have been left alone
                renewals/s   of each node
                *            broke no rule, and no other such row is better in silence p99, back within or renewals, and worse in none
                """).toString();
    }

    /** The report as JSON; durations in seconds. */
    public JsonObject json() {
        return JsonObject.builder()
                .put("source", source)
                .put("soonSeconds", soon.toSeconds())
                .put("wanted", wanted)
                .put("partial", isPartial())
                .put("good", isGood())
                .put(
                        "trials",
                        new JsonArray(trials.stream().<JsonValue>map(this::json).toList()))
                .build();
    }

    private JsonObject json(Trial trial) {
        JsonObject.Builder json = JsonObject.builder()
                .put("flags", trial.candidate().flags())
                .put("best", isBest(trial))
                .put("figures", trial.figures().json())
                .put("renewalsPerSecondAndNode", new JsonNumber(String.format(Locale.ROOT, "%.4f", trial.renewals())))
                .put("violations", trial.violations());
        trial.evictions().ifPresent(evictions -> json.put("evictions", evictions));
        return json.build();
    }
}
