package io.nodekeeper.simulator.oracle;

import io.nodekeeper.time.GoDuration;
import io.nodekeeper.time.VirtualTime;
import java.time.Duration;
import java.time.Instant;
import java.util.function.BiConsumer;
import java.util.function.BooleanSupplier;

/**
 * The state that all rules share: the time, the trace, the tally, and the disturbances of the control plane, which stop
 * the clocks of rules that require something of it. Confined to virtual time.
 */
final class Scales {
    /** The longest time a control plane may take to recover from a disturbance: this project's requirement. */
    static final Duration RECOVERY = Duration.ofSeconds(5);
    /** The shortest wait before a stopped clock is checked again. */
    private static final long LOOK_AGAIN = Duration.ofMillis(100).toNanos();

    private final VirtualTime time;
    private final VirtualTime.VirtualLoop loop;
    private final BiConsumer<String, String> trace;
    private final Tally tally;
    /** The API server and its disk. */
    final Disturbances server = new Disturbances(RECOVERY);
    /** The same outages without their recovery: the times in which no renewal could be stored. */
    final Disturbances outages = new Disturbances(Duration.ZERO);
    /** The API server, or anything else that a controller needs to see and to write. */
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

    /** The correct wall time. */
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
     * Runs {@code check} once {@code allowance} of undisturbed time has passed since {@code from}, if {@code holds} is
     * true at each check until then.
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

    /** Runs {@code check} after {@code delay}. */
    void later(Duration delay, Runnable check) {
        loop.schedule(delay, check);
    }

    /** How much of the time since {@code from} was undisturbed. */
    long undisturbed(long from, Disturbances disturbances) {
        long now = now();
        return now - from - disturbances.within(from, now);
    }

    static String text(long nanos) {
        return GoDuration.format(Duration.ofMillis(nanos / 1_000_000));
    }
}
