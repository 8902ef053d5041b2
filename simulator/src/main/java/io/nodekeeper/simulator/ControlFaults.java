package io.nodekeeper.simulator;

import io.nodekeeper.simulator.cluster.SimApiServer;
import io.nodekeeper.simulator.cluster.SimCluster;
import io.nodekeeper.simulator.cluster.SimController;
import java.time.Duration;
import java.util.HashSet;
import java.util.Set;
import java.util.random.RandomGenerator;

/**
 * Injects random faults into the control plane: API server and controllers crash or freeze, the disk hangs, a watch
 * stalls or lags, a controller's connection breaks or loses messages, its canaries are refused, clocks jump. Most
 * faults last as long as a node's outage; some stalls of the API server last about as long as the controller tolerates.
 * Several faults may overlap, but never two of one part. Confined to virtual time.
 */
final class ControlFaults {
    /** The part of the control plane that a fault affects. */
    private enum Part {
        SERVER_PROCESS,
        SERVER_DISK,
        CONTROLLER_PROCESS,
        CONTROLLER_CABLE,
        CONTROLLER_WATCH,
        CONTROLLER_LAG,
        CONTROLLER_CANARY,
        CONTROLLER_CLOCK,
        NODE_CLOCKS
    }

    private static final long HOUR_NANOS = Duration.ofHours(1).toNanos();
    /** How far a clock jumps, in either direction: the effect of a wrong time zone. */
    private static final Duration JUMP = Duration.ofHours(2);
    /** The shortest of the short stalls: a second less than the 3 s that the controller tolerates. */
    private static final Duration SHORT_STALL = Duration.ofSeconds(2);
    /** The range of short stalls above that: up to 5 s, a second more than tolerance and canary period together. */
    private static final Duration SHORT_STALL_RANGE = Duration.ofSeconds(3);
    /** The lag of a watch: less than the controller tolerates, so that no canary is late. */
    private static final Duration LAG = Duration.ofMillis(2_500);
    /** The statuses with which an API server refuses a write: invalid, forbidden, unprocessable, too many, failed. */
    private static final int[] REFUSALS = {400, 403, 422, 429, 500};

    private final SimCluster cluster;
    private final RandomRunOptions options;
    private final RandomGenerator random;
    private final Set<Part> broken = new HashSet<>();

    ControlFaults(SimCluster cluster, RandomRunOptions options, RandomGenerator random) {
        this.cluster = cluster;
        this.options = options;
        this.random = random;
    }

    /** Schedules a fault after a random time, and then the next. */
    void next() {
        long wait = (long) (random.nextExponential() * HOUR_NANOS / options.controlFaultsPerHour());
        cluster.later(Duration.ofNanos(wait), () -> {
            strike();
            next();
        });
    }

    private void strike() {
        Duration outage = Outages.duration(random.nextDouble());
        Duration stall = SHORT_STALL.plusNanos((long) (random.nextDouble() * SHORT_STALL_RANGE.toNanos()));
        int kind = random.nextInt(14);
        Duration jump = random.nextBoolean() ? JUMP : JUMP.negated();
        String server = SimApiServer.NAME;
        String controller = SimController.name(1 + random.nextInt(options.controllers()));
        String node = "n" + random.nextInt(options.nodes());
        int status = REFUSALS[random.nextInt(REFUSALS.length)];
        switch (kind) {
            case 0 -> strike(Part.SERVER_PROCESS, outage, () -> cluster.crash(server), () -> cluster.restart(server));
            case 1 -> strike(Part.SERVER_PROCESS, outage, () -> cluster.freeze(server), () -> cluster.thaw(server));
            case 2 -> strike(Part.SERVER_DISK, outage, cluster::stallDisk, cluster::resumeDisk);
            case 3 ->
                strike(
                        Part.CONTROLLER_PROCESS,
                        outage,
                        () -> cluster.crashIfRunning(controller),
                        () -> cluster.restartIfDown(controller));
            case 4 ->
                strike(
                        Part.CONTROLLER_PROCESS,
                        outage,
                        () -> cluster.freezeIfRunning(controller),
                        () -> cluster.thawIfFrozen(controller));
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
            case 9 ->
                strike(
                        Part.NODE_CLOCKS,
                        outage,
                        () -> cluster.skew(node, jump),
                        () -> cluster.skew(node, Duration.ZERO));
            case 10, 11 -> strike(Part.SERVER_PROCESS, stall, () -> cluster.freeze(server), () -> cluster.thaw(server));
            case 12 ->
                strike(
                        Part.CONTROLLER_LAG,
                        outage,
                        () -> cluster.lagWatch(controller, "leases", LAG),
                        () -> cluster.lagWatch(controller, "leases", Duration.ZERO));
            default ->
                strike(
                        Part.CONTROLLER_CANARY,
                        outage,
                        () -> cluster.refuseCanary(controller, status),
                        () -> cluster.refuseCanary(controller, 0));
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
