package io.nodekeeper.simulator;

import io.nodekeeper.time.Clock;
import io.nodekeeper.time.Randoms;
import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;
import java.util.random.RandomGenerator;

/**
 * A cluster whose nodes crash, freeze and lose their connection at random, and come back, and whose control plane suffers
 * likewise if asked for. Not thread-safe.
 */
public final class RandomRun {
    private static final Duration MINUTE = Duration.ofMinutes(1);
    private static final long HOUR_NANOS = Duration.ofHours(1).toNanos();
    /** The shortest outage: far below the grace, so that most such nodes must not be marked. Chosen. */
    private static final double SHORTEST_SECONDS = 2;
    /** The longest outage. Chosen. */
    private static final double LONGEST_SECONDS = 300;
    /** Makes faults of the control plane independent of those of nodes. Any number. */
    private static final long CONTROL = 0x9e3779b97f4a7c15L;

    /**
     * What to run.
     *
     * @param nodes how many, at least 1
     * @param duration of virtual time
     * @param seed from which everything follows
     * @param crashesPerHour outages of nodes in an hour of virtual time, on average, in the whole cluster
     * @param controlFaultsPerHour the same of what befalls the control plane: see {@link ControlFaults}
     */
    public record Options(
            int nodes, Duration duration, long seed, double crashesPerHour, double controlFaultsPerHour) {}

    private final Options options;
    private final SimCluster cluster;
    private final RandomGenerator random;
    private long outages;

    private RandomRun(Options options, Consumer<String> lines) {
        this.options = options;
        this.cluster = new SimCluster(ClusterSetup.of(options.nodes, options.seed), lines);
        this.random = Randoms.seeded(~options.seed);
    }

    /**
     * Runs to the end.
     *
     * @param stopwatch tells how long it takes
     * @param lines gets the trace, line by line
     * @param progress hears of each minute of virtual time that is over
     */
    public static Report run(Options options, Clock stopwatch, Consumer<String> lines, Consumer<Duration> progress) {
        long began = stopwatch.nanoTime();
        RandomRun run = new RandomRun(options, lines);
        if (options.crashesPerHour > 0) {
            run.nextOutage();
        }
        if (options.controlFaultsPerHour > 0) {
            new ControlFaults(run.cluster, options, Randoms.seeded(options.seed ^ CONTROL)).next();
        }
        for (Duration left = options.duration; left.isPositive(); left = left.minus(MINUTE)) {
            run.cluster.run(left.compareTo(MINUTE) < 0 ? left : MINUTE);
            progress.accept(run.cluster.time().elapsed());
        }
        return run.report(Duration.ofNanos(stopwatch.nanoTime() - began));
    }

    private void nextOutage() {
        long wait = (long) (random.nextExponential() * HOUR_NANOS / options.crashesPerHour);
        cluster.later(Duration.ofNanos(wait), () -> {
            strike("n" + random.nextInt(options.nodes));
            nextOutage();
        });
    }

    private void strike(String node) {
        double share = random.nextDouble();
        int kind = random.nextInt(5);
        if (!cluster.isHealthy(node)) {
            return;
        }
        outages++;
        Duration outage = outage(share);
        switch (kind) {
            case 0 -> {
                cluster.freeze(node);
                cluster.later(outage, () -> cluster.thaw(node));
            }
            case 1 -> {
                cluster.cut(node);
                cluster.later(outage, () -> cluster.heal(node));
            }
            default -> {
                cluster.crash(node);
                cluster.later(outage, () -> cluster.restart(node));
            }
        }
    }

    /** As many are between 2 s and 20 s as between 20 s and 200 s; {@code share} is uniform in [0, 1). */
    static Duration outage(double share) {
        double seconds = SHORTEST_SECONDS * Math.pow(LONGEST_SECONDS / SHORTEST_SECONDS, share);
        return Duration.ofMillis((long) (seconds * 1_000));
    }

    private Report report(Duration took) {
        Tally tally = cluster.tally();
        // The count of all that ever ran is part of the trace: it differs if anything did.
        cluster.trace()
                .add("simulator", "ran " + cluster.time().executed() + " tasks, saw " + tally.renewals + " renewals");
        List<Long> delays = tally.delays.stream().sorted().toList();
        return new Report(
                options,
                took,
                cluster.time().executed(),
                tally.renewals,
                outages,
                tally.verdicts,
                tally.late,
                tally.wrong,
                tally.notReturned,
                tally.taintsLate,
                percentile(delays, 0.5),
                percentile(delays, 0.99),
                percentile(delays, 1),
                cluster.trace().lines(),
                cluster.trace().hash());
    }

    private static Duration percentile(List<Long> sorted, double share) {
        return sorted.isEmpty()
                ? Duration.ZERO
                : Duration.ofNanos(sorted.get((int) Math.ceil(share * sorted.size()) - 1));
    }
}
