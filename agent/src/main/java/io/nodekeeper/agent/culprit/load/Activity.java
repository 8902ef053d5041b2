package io.nodekeeper.agent.culprit.load;

import java.time.Duration;
import java.util.Optional;

/**
 * The newest interval between two scans in which a process was busy. Immutable.
 *
 * @param over the length of the interval
 * @param ran the time on a processor in it, summed over the threads
 * @param queued the time in it in which a thread waited for a processor, summed over the threads
 * @param ago the time since the end of the interval
 * @param starved the time since the end of the newest interval in which it waited for a processor longer than it ran; empty
 *     if there was none
 */
public record Activity(Duration over, Duration ran, Duration queued, Duration ago, Optional<Duration> starved) {
    /**
     * The percentage of an interval in which a thread ran or wanted to run, from which the process counts as busy. A
     * runtime without work needs below 2 %; ten times that leaves room on both sides.
     */
    private static final int BUSY_PERCENT = 20;

    /** Whether the process worked, or wanted to, in so much of the interval that a late answer can be due to it. */
    boolean isBusy() {
        return over.isPositive() && ran.plus(queued).multipliedBy(100).compareTo(over.multipliedBy(BUSY_PERCENT)) >= 0;
    }

    /** Whether it waited for a processor longer than it ran. */
    public boolean isStarved() {
        return queued.compareTo(ran) > 0;
    }

    /** The same interval, as the newest in which it waited longer than it ran. */
    Activity starvedUntilNow() {
        return new Activity(over, ran, queued, ago, Optional.of(Duration.ZERO));
    }

    /** The same interval, seen later. */
    Activity later(Duration more) {
        return new Activity(over, ran, queued, ago.plus(more), starved.map(time -> time.plus(more)));
    }
}
