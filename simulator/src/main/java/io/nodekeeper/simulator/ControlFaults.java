package io.nodekeeper.simulator;

import java.time.Duration;
import java.util.HashSet;
import java.util.Set;
import java.util.random.RandomGenerator;

/**
 * What befalls a control plane at random, for as long as a node's outage: API server and controller crash or freeze, the
 * disk hangs, a watch falls silent, the controller's cable breaks or goes dead, clocks jump. Several at once, but never
 * two of one thing. Confined to virtual time.
 */
final class ControlFaults {
    /** What each fault happens to. */
    private enum Part {
        SERVER_PROCESS,
        SERVER_DISK,
        CONTROLLER_PROCESS,
        CONTROLLER_CABLE,
        CONTROLLER_WATCH,
        CONTROLLER_CLOCK,
        NODE_CLOCKS
    }

    private static final long HOUR_NANOS = Duration.ofHours(1).toNanos();
    /** How far a clock jumps, either way. Chosen: a wrong time zone's worth. */
    private static final Duration JUMP = Duration.ofHours(2);

    private final SimCluster cluster;
    private final RandomRun.Options options;
    private final RandomGenerator random;
    private final Set<Part> broken = new HashSet<>();

    ControlFaults(SimCluster cluster, RandomRun.Options options, RandomGenerator random) {
        this.cluster = cluster;
        this.options = options;
        this.random = random;
    }

    /** Has a fault strike after a random time, and so on. */
    void next() {
        long wait = (long) (random.nextExponential() * HOUR_NANOS / options.controlFaultsPerHour());
        cluster.later(Duration.ofNanos(wait), () -> {
            strike();
            next();
        });
    }

    private void strike() {
        Duration outage = RandomRun.outage(random.nextDouble());
        int kind = random.nextInt(10);
        Duration jump = random.nextBoolean() ? JUMP : JUMP.negated();
        String server = SimApiServer.NAME;
        String controller = SimController.NAME;
        String node = "n" + random.nextInt(options.nodes());
        switch (kind) {
            case 0 -> strike(Part.SERVER_PROCESS, outage, () -> cluster.crash(server), () -> cluster.restart(server));
            case 1 -> strike(Part.SERVER_PROCESS, outage, () -> cluster.freeze(server), () -> cluster.thaw(server));
            case 2 -> strike(Part.SERVER_DISK, outage, cluster::stallDisk, cluster::resumeDisk);
            case 3 ->
                strike(
                        Part.CONTROLLER_PROCESS,
                        outage,
                        () -> cluster.crash(controller),
                        () -> cluster.restart(controller));
            case 4 ->
                strike(
                        Part.CONTROLLER_PROCESS,
                        outage,
                        () -> cluster.freeze(controller),
                        () -> cluster.thaw(controller));
            case 5 ->
                strike(Part.CONTROLLER_CABLE, outage, () -> cluster.cut(controller), () -> cluster.heal(controller));
            case 6 ->
                strike(
                        Part.CONTROLLER_CABLE,
                        outage,
                        () -> cluster.silence(controller),
                        () -> cluster.heal(controller));
            case 7 ->
                strike(
                        Part.CONTROLLER_WATCH,
                        outage,
                        () -> cluster.stallWatch(controller, "leases"),
                        () -> cluster.resumeWatch(controller, "leases"));
            case 8 ->
                strike(
                        Part.CONTROLLER_CLOCK,
                        outage,
                        () -> cluster.skew(controller, jump),
                        () -> cluster.skew(controller, Duration.ZERO));
            default ->
                strike(
                        Part.NODE_CLOCKS,
                        outage,
                        () -> cluster.skew(node, jump),
                        () -> cluster.skew(node, Duration.ZERO));
        }
    }

    private void strike(Part part, Duration outage, Runnable begin, Runnable end) {
        if (broken.add(part)) {
            begin.run();
            cluster.later(outage, () -> {
                broken.remove(part);
                end.run();
            });
        }
    }
}
