package io.nodekeeper.simulator.lean;

import io.nodekeeper.api.json.JsonNumber;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.simulator.verdicts.Figures;
import io.nodekeeper.time.GoDuration;
import java.time.Duration;
import java.util.Locale;

/**
 * The result of a lean run.
 *
 * @param options the run's options
 * @param partial whether the run was asked to end before the verdicts were due; then no death counts as missed
 * @param took real time
 * @param simulated virtual time
 * @param tasks tasks that ran in all loops
 * @param deaths nodes that died
 * @param missed dead nodes that were not declared Unknown
 * @param falseVerdicts nodes that were declared Unknown while alive, or before their grace was over
 * @param p50 median of the verdicts' delays beyond the grace, as the API server committed renewals and verdicts
 * @param p99 99th percentile of the same
 * @param max longest of the same
 * @param renewals of leases from the deaths to the end
 * @param steady real time of these renewals
 * @param controllerBytes memory that was freed with the controller; 0 in a partial run
 */
public record LeanReport(
        LeanRunOptions options,
        boolean partial,
        Duration took,
        Duration simulated,
        long tasks,
        int deaths,
        int missed,
        int falseVerdicts,
        Duration p50,
        Duration p99,
        Duration max,
        long renewals,
        Duration steady,
        long controllerBytes) {

    /** Whether every dead node was found, and no other one. */
    public boolean isGood() {
        return missed + falseVerdicts == 0;
    }

    /** Renewals per second of real time, through API server, store, watch and controller. */
    public double renewalsPerSecond() {
        return renewals * 1e9 / Math.max(1, steady.toNanos());
    }

    /** The report as text. */
    public String text() {
        String mark =
                partial ? "PARTIAL: interrupted after " + GoDuration.format(simulated) + " of virtual time\n" : "";
        return mark
                + String.format(
                        Locale.ROOT,
                        """
                %d lean nodes for %s of virtual time, seed %d: took %s, %d tasks
                renewals     %d after the deaths, %.0f in a second of real time
                deaths       %d at once, %d missed, %d false verdicts
                delay        p50 %s, p99 %s, max %s beyond the grace
                controller   %s
                %s""",
                        options.nodes(),
                        GoDuration.format(simulated),
                        options.seed(),
                        GoDuration.format(Duration.ofMillis(took.toMillis())),
                        tasks,
                        renewals,
                        renewalsPerSecond(),
                        deaths,
                        missed,
                        falseVerdicts,
                        micros(p50),
                        micros(p99),
                        micros(max),
                        partial
                                ? "memory not measured"
                                : String.format(Locale.ROOT, "%.0f bytes a node", bytesPerNode()),
                        !isGood()
                                ? "VERDICTS ARE WRONG"
                                : partial
                                        ? "no verdict was wrong until then"
                                        : "every dead node was found, and no other one");
    }

    /** The report as JSON; durations in seconds. */
    public JsonObject json() {
        return JsonObject.builder()
                .put("nodes", options.nodes())
                .put("seed", options.seed())
                .put("partial", partial)
                .put("tookSeconds", Figures.seconds(took))
                .put("simulatedSeconds", Figures.seconds(simulated))
                .put("tasks", tasks)
                .put("renewals", renewals)
                .put("renewalsPerSecond", decimal(renewalsPerSecond()))
                .put("deaths", deaths)
                .put("missed", missed)
                .put("false", falseVerdicts)
                .put("delayP50Seconds", Figures.seconds(p50))
                .put("delayP99Seconds", Figures.seconds(p99))
                .put("delayMaxSeconds", Figures.seconds(max))
                .put("controllerBytesPerNode", decimal(bytesPerNode()))
                .put("good", isGood())
                .build();
    }

    private double bytesPerNode() {
        return (double) controllerBytes / options.nodes();
    }

    private static JsonNumber decimal(double value) {
        return new JsonNumber(String.format(Locale.ROOT, "%.1f", value));
    }

    private static String micros(Duration duration) {
        return GoDuration.format(Duration.ofNanos(duration.toNanos() / 1_000 * 1_000));
    }
}
