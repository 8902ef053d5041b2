package io.nodekeeper.simulator;

import io.nodekeeper.client.KubeClient;
import io.nodekeeper.controller.config.ControllerConfig;
import io.nodekeeper.simulator.oracle.Tally;
import io.nodekeeper.time.Clock;
import io.nodekeeper.time.Randoms;
import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;

/**
 * A cluster whose nodes fail and recover at random, and are deleted and created again, with pods on some of them;
 * optionally its control plane fails, too. Not thread-safe.
 */
public final class RandomRun {
    private static final Duration MINUTE = Duration.ofMinutes(1);
    /** The shortest outage, seconds: far below the grace, so that most such nodes must not be marked. */
    private static final double SHORTEST_SECONDS = 2;
    /** The longest outage, seconds: far beyond the grace and most tolerations. */
    private static final double LONGEST_SECONDS = 300;
    /** Makes the faults of the control plane independent of those of nodes. Any number works. */
    private static final long CONTROL = 0x9e3779b97f4a7c15L;

    /**
     * The options of a run.
     *
     * @param nodes their number, at least 1
     * @param duration of virtual time
     * @param seed the seed of all randomness
     * @param crashesPerHour faults of nodes in an hour of virtual time, on average, in the whole cluster
     * @param controlFaultsPerHour the same for the control plane: see {@link ControlFaults}
     * @param pods their number, one on each of the first nodes, and again from the first
     * @param controllers their number, at least 1; several elect an active one
     */
    public record Options(
            int nodes,
            Duration duration,
            long seed,
            double crashesPerHour,
            double controlFaultsPerHour,
            int pods,
            int controllers) {

        /** A run without pods and with one controller. */
        public Options(int nodes, Duration duration, long seed, double crashesPerHour, double controlFaultsPerHour) {
            this(nodes, duration, seed, crashesPerHour, controlFaultsPerHour, 0, 1);
        }
    }

    private final Options options;
    private final SimCluster cluster;
    private final NodeFaults nodeFaults;

    private RandomRun(Options options, Consumer<String> lines) {
        this.options = options;
        this.cluster = new SimCluster(
                new ClusterSetup(
                        options.nodes,
                        options.seed,
                        options.controllers,
                        options.pods > 0,
                        ControllerConfig.DEFAULT,
                        UnaryOperator.identity(),
                        options.controllers > 1),
                lines);
        KubeClient admin = cluster.admin();
        this.nodeFaults = new NodeFaults(cluster, options, Randoms.seeded(~options.seed), admin);
        if (options.crashesPerHour > 0) {
            nodeFaults.next();
        }
        if (options.controlFaultsPerHour > 0) {
            new ControlFaults(cluster, options, Randoms.seeded(options.seed ^ CONTROL)).next();
        }
        if (options.pods > 0) {
            new PodSupply(cluster, options, admin).next();
        }
    }

    /**
     * Runs to the end.
     *
     * @param stopwatch measures real time
     * @param lines receives the trace, line by line
     * @param progress receives each elapsed minute of virtual time
     */
    public static Report run(Options options, Clock stopwatch, Consumer<String> lines, Consumer<Duration> progress) {
        long began = stopwatch.nanoTime();
        RandomRun run = new RandomRun(options, lines);
        for (Duration left = options.duration; left.isPositive(); left = left.minus(MINUTE)) {
            run.cluster.run(left.compareTo(MINUTE) < 0 ? left : MINUTE);
            progress.accept(run.cluster.time().elapsed());
        }
        return run.report(Duration.ofNanos(stopwatch.nanoTime() - began));
    }

    /**
     * A log-uniform duration: as many are between 2 s and 20 s as between 20 s and 200 s; {@code share} is uniform in
     * [0, 1).
     */
    static Duration outage(double share) {
        double seconds = SHORTEST_SECONDS * Math.pow(LONGEST_SECONDS / SHORTEST_SECONDS, share);
        return Duration.ofMillis((long) (seconds * 1_000));
    }

    private Report report(Duration took) {
        Tally tally = cluster.tally();
        // The number of all tasks is part of the trace: it differs if any task differed.
        cluster.trace()
                .add("simulator", "ran " + cluster.time().executed() + " tasks, saw " + tally.renewals() + " renewals");
        List<Long> delays = tally.delays().stream().sorted().toList();
        return new Report(
                options,
                took,
                cluster.time().executed(),
                nodeFaults.outages(),
                tally,
                percentile(delays, 50),
                percentile(delays, 99),
                percentile(delays, 100),
                cluster.trace().lines(),
                cluster.trace().hash());
    }

    private static Duration percentile(List<Long> sorted, int percent) {
        return sorted.isEmpty()
                ? Duration.ZERO
                : Duration.ofNanos(sorted.get((int) Math.ceil(percent * sorted.size() / 100.0) - 1));
    }
}
