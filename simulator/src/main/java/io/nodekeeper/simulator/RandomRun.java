package io.nodekeeper.simulator;

import io.nodekeeper.client.KubeClient;
import io.nodekeeper.simulator.cluster.ClusterSetup;
import io.nodekeeper.simulator.cluster.SimCluster;
import io.nodekeeper.simulator.oracle.Tally;
import io.nodekeeper.simulator.verdicts.Figures;
import io.nodekeeper.simulator.verdicts.VerdictLog;
import io.nodekeeper.time.Clock;
import io.nodekeeper.time.Randoms;
import java.time.Duration;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;

/**
 * A cluster whose nodes fail and recover at random, and are deleted and created again, with pods on some of them;
 * optionally its control plane fails, too. Not thread-safe.
 */
public final class RandomRun {
    /** Between two reports of progress, and how long a run goes on after it was asked to end: milliseconds of real time. */
    private static final Duration STEP = Duration.ofSeconds(1);
    /** Makes the faults of the control plane independent of those of nodes. Any number works. */
    private static final long CONTROL = 0x9e3779b97f4a7c15L;

    private final RandomRunOptions options;
    private final SimCluster cluster;
    private final NodeFaults nodeFaults;
    private final VerdictLog verdicts;

    private RandomRun(RandomRunOptions options, Consumer<String> lines) {
        this.options = options;
        this.cluster = new SimCluster(
                new ClusterSetup(
                        options.nodes(),
                        options.seed(),
                        options.controllers(),
                        options.pods() > 0,
                        options.config(),
                        UnaryOperator.identity(),
                        options.controllers() > 1,
                        options.leaseDurationSeconds()),
                lines);
        verdicts = new VerdictLog(cluster.time().loop("verdicts"));
        cluster.observe(verdicts);
        KubeClient admin = cluster.admin();
        this.nodeFaults = new NodeFaults(cluster, options, Randoms.seeded(~options.seed()), admin);
        if (options.crashesPerHour() > 0) {
            nodeFaults.next();
        }
        if (options.controlFaultsPerHour() > 0) {
            new ControlFaults(cluster, options, Randoms.seeded(options.seed() ^ CONTROL)).next();
        }
        if (options.pods() > 0) {
            new PodSupply(cluster, options, admin).next();
        }
    }

    /**
     * Runs to the end, or until it is asked to end; the report then is of the time until then.
     *
     * @param stopwatch measures real time
     * @param lines receives the trace, line by line
     * @param progress receives the elapsed virtual time, each second of it
     * @param ended whether to end now; asked each second of virtual time
     */
    public static Report run(
            RandomRunOptions options,
            Clock stopwatch,
            Consumer<String> lines,
            Consumer<Duration> progress,
            BooleanSupplier ended) {
        long began = stopwatch.nanoTime();
        RandomRun run = new RandomRun(options, lines);
        Duration left = options.duration();
        while (left.isPositive() && !ended.getAsBoolean()) {
            Duration step = left.compareTo(STEP) < 0 ? left : STEP;
            run.cluster.run(step);
            left = left.minus(step);
            progress.accept(run.cluster.time().elapsed());
        }
        return run.report(Duration.ofNanos(stopwatch.nanoTime() - began));
    }

    private Report report(Duration took) {
        Tally tally = cluster.tally();
        // The number of all tasks is part of the trace: it differs if any task differed.
        cluster.trace()
                .add("simulator", "ran " + cluster.time().executed() + " tasks, saw " + tally.renewals() + " renewals");
        List<Duration> delays =
                tally.delays().stream().sorted().map(Duration::ofNanos).toList();
        return new Report(
                options,
                cluster.time().elapsed(),
                took,
                cluster.time().executed(),
                nodeFaults.outages(),
                tally,
                verdicts.verdicts(),
                Figures.percentile(delays, 50),
                Figures.percentile(delays, 99),
                Figures.percentile(delays, 100),
                cluster.trace().lines(),
                cluster.trace().hash());
    }
}
