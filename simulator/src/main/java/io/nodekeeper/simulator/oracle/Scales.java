package io.nodekeeper.simulator.oracle;

import io.nodekeeper.time.GoDuration;
import io.nodekeeper.time.VirtualTime;
import java.time.Duration;
import java.time.Instant;
import java.util.function.BiConsumer;
import java.util.function.BooleanSupplier;

/**
 * What all rules share: the time, the trace, the tally, and the disturbances of the control plane, which stop the clocks of
 * those rules that demand something of it. Confined to virtual time.
 */
final class Scales {
    /** How long after a disturbance a control plane may take until it works as if there had been none: the project's bound. */
    static final Duration RECOVERY = Duration.ofSeconds(5);
    /** The least wait before a clock that stands still is looked at again. */
    private static final long LOOK_AGAIN = Duration.ofMillis(100).toNanos();

    private final VirtualTime time;
    private final VirtualTime.VirtualLoop loop;
    private final BiConsumer<String, String> trace;
    private final Tally tally;
    /** The API server and its disk. */
    final Disturbances server = new Disturbances(RECOVERY);
    /** The same outages without their recovery: for so long no renewal could be stored. */
    final Disturbances outages = new Disturbances(Duration.ZERO);
    /** The API server, or what a controller needs to see and to write. */
    final Disturbances control;

    Scales(VirtualTime time, Duration takeover, BiConsumer<String, String> trace, Tally tally) {
        this.time = time;
        this.loop = time.loop("oracle");
        this.control = new Disturbances(RECOVERY.plus(takeover));
        this.trace = trace;
        this.tally = tally;
    }

    long now() {
        return loop.nanoTime();
    }

    /** The wall time of a clock that is right. */
    Instant wallTime() {
        return time.wallTime();
    }

    Tally tally() {
        return tally;
    }

    void trace(String who, String what) {
        trace.accept(who, what);
    }

    void violated(Rule rule, String who, String what) {
        tally.violated(rule);
        trace.accept(who, "VIOLATION " + what);
    }

    /**
     * Runs {@code check} once {@code allowance} of undisturbed time has passed since {@code from}, if {@code holds} is true
     * at each look until then.
     */
    void after(long from, Duration allowance, Disturbances disturbances, BooleanSupplier holds, Runnable check) {
        if (!holds.getAsBoolean()) {
            return;
        }
        long left = allowance.toNanos() - undisturbed(from, disturbances);
        if (left <= 0) {
            check.run();
            return;
        }
        long wait = disturbances.isDisturbed(now()) ? Math.max(left, LOOK_AGAIN) : left;
        loop.schedule(Duration.ofNanos(wait), () -> after(from, allowance, disturbances, holds, check));
    }

    /** Runs {@code check} after a while. */
    void later(Duration delay, Runnable check) {
        loop.schedule(delay, check);
    }

    /** How much of the time since {@code from} nothing was wrong. */
    long undisturbed(long from, Disturbances disturbances) {
        long now = now();
        return now - from - disturbances.within(from, now);
    }

    static String text(long nanos) {
        return GoDuration.format(Duration.ofMillis(nanos / 1_000_000));
    }
}
