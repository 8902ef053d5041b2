package io.nodekeeper.simulator;

import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.simulator.verdicts.Figures;
import io.nodekeeper.time.Clock;
import io.nodekeeper.time.GoDuration;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.function.Function;

/**
 * Random runs with one seed after the other, until one is not good: see {@link Report#isGood}.
 *
 * @param options the options of the first run; later ones differ in the seed
 * @param flags of the command that repeats a run, for how controllers and agents are configured
 * @param wanted the number of runs if all are good
 * @param runs those that ended
 * @param simulated virtual time of all of them
 * @param took real time
 * @param outages faults of nodes
 * @param silences of nodes for longer than their grace, each of which must end in a verdict
 * @param verdicts verdicts that were tested
 * @param found the run that broke a rule, or in which no silence ended in a verdict
 */
public record Exploration(
        RandomRunOptions options,
        List<String> flags,
        int wanted,
        int runs,
        Duration simulated,
        Duration took,
        long outages,
        long silences,
        long verdicts,
        Optional<Report> found) {

    /**
     * Explores until a run is not good, all are done, or it is asked to end. A run that is interrupted does not count, unless it
     * broke a rule before.
     *
     * @param stopwatch measures real time
     * @param run makes a run, or a part of it if it is asked to end
     * @param ended whether to end now; asked before each run
     */
    public static Exploration of(
            RandomRunOptions options,
            List<String> flags,
            int wanted,
            Clock stopwatch,
            Function<RandomRunOptions, Report> run,
            BooleanSupplier ended) {
        long began = stopwatch.nanoTime();
        Exploration so =
                new Exploration(options, flags, wanted, 0, Duration.ZERO, Duration.ZERO, 0, 0, 0, Optional.empty());
        while (so.runs < wanted && so.found.isEmpty() && !ended.getAsBoolean()) {
            Report report = run.apply(options.withSeed(options.seed() + so.runs));
            if (report.isPartial() && report.tally().violations() == 0) {
                break;
            }
            so = so.with(report, Duration.ofNanos(stopwatch.nanoTime() - began));
        }
        return so;
    }

    private Exploration with(Report report, Duration sinceBegin) {
        return new Exploration(
                options,
                flags,
                wanted,
                runs + 1,
                simulated.plus(report.simulated()),
                sinceBegin,
                outages + report.outages(),
                silences + report.tally().silences(),
                verdicts + report.tally().verdicts(),
                report.isGood() ? Optional.empty() : Optional.of(report));
    }

    /** Whether each run was good. */
    public boolean isGood() {
        return found.isEmpty();
    }

    /** Whether it was asked to end before all runs. */
    public boolean isPartial() {
        return found.isEmpty() && runs < wanted;
    }

    /** The result as text, with the command that repeats the run that was found. */
    public String text() {
        String summary = String.format(
                Locale.ROOT,
                "%s%d of %d runs of %d nodes for %s, seeds from %d: took %s%noutages      %d%nverdicts     %d, for %d silences beyond the grace%n",
                isPartial() ? "PARTIAL: " : "",
                runs,
                wanted,
                options.nodes(),
                GoDuration.format(options.duration()),
                options.seed(),
                Figures.millis(took),
                outages,
                verdicts,
                silences);
        return found.map(run -> summary
                        + "%nThe run with seed %d %s:%n%s%n%nRepeat it with its trace:%n  %s"
                                .formatted(
                                        run.options().seed(),
                                        run.tally().violations() > 0 ? "broke a rule" : "judged nothing",
                                        run.text(),
                                        command(run.options())))
                .orElseGet(() -> summary + (isPartial() ? "no rule was broken until then" : "no rule was broken"));
    }

    private String command(RandomRunOptions options) {
        return String.format(
                Locale.ROOT,
                "nodekeeper simulate --nodes %d --duration %s --seed %d --crashes-per-hour %s --control-faults-per-hour %s"
                        + " --pods %d --controllers %d%s --trace trace.txt",
                options.nodes(),
                GoDuration.format(options.duration()),
                options.seed(),
                options.crashesPerHour(),
                options.controlFaultsPerHour(),
                options.pods(),
                options.controllers(),
                flags.isEmpty() ? "" : " " + String.join(" ", flags));
    }

    /** The result as JSON; durations in seconds. */
    public JsonObject json() {
        JsonObject.Builder json = JsonObject.builder()
                .put("wanted", wanted)
                .put("runs", runs)
                .put("firstSeed", options.seed())
                .put("partial", isPartial())
                .put("simulatedSeconds", Figures.seconds(simulated))
                .put("tookSeconds", Figures.seconds(took))
                .put("outages", outages)
                .put("silences", silences)
                .put("verdicts", verdicts)
                .put("good", isGood());
        found.ifPresent(run -> json.put("found", run.json()).put("command", command(run.options())));
        return json.build();
    }
}
