package io.nodekeeper.agent.culprit;

import io.nodekeeper.agent.culprit.load.Work;
import io.nodekeeper.time.Clock;
import java.time.Duration;

/** The work of a simulated process, which grows at rates that a test sets. */
final class WorkMeter {
    private final Clock clock;
    private long at;
    private double ran;
    private double queued;
    private double ranRate;
    private double queuedRate;

    WorkMeter(Clock clock) {
        this.clock = clock;
        this.at = clock.nanoTime();
    }

    /** From now on: seconds on a processor, and seconds of waiting for one, in each second. */
    void rates(double running, double waiting) {
        work();
        ranRate = running;
        queuedRate = waiting;
    }

    /** The work until now. */
    Work work() {
        long now = clock.nanoTime();
        ran += ranRate * (now - at);
        queued += queuedRate * (now - at);
        at = now;
        return new Work(Duration.ofNanos((long) ran), Duration.ofNanos((long) queued));
    }
}
