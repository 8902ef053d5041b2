package io.nodekeeper.controller.explain;

import java.time.Duration;
import java.util.Optional;

/**
 * Limits how many decisions the Ready changes of one node become: {@link #BURST} at once, and one in a {@link #PERIOD}
 * in the long run. Further changes wait and become one decision with their number, so that none is lost silently. Times
 * are nanoseconds of one monotonic clock, passed in. Not thread-safe.
 */
final class ReadyTrail {
    /** The most changes that are stored one by one: five falls, each with its recovery. */
    static final int BURST = 10;
    /**
     * How long changes wait. A node that changes again and again then takes 1,440 decisions a day, about 1 MB of a
     * history's 64 MiB, and its changes are known a minute later.
     */
    static final Duration PERIOD = Duration.ofMinutes(1);

    /** Each stored decision uses up one period. This is the end of the last one; it may lie in the future. */
    private long usedUntil;
    /** The changes that wait. */
    private Optional<ReadyChange> waiting = Optional.empty();
    /** When the first of them came. */
    private long waitingSince;

    /** A trail without changes. */
    ReadyTrail(long now) {
        this.usedUntil = now;
    }

    /** Whether changes wait for {@link #release}. */
    boolean isWaiting() {
        return waiting.isPresent();
    }

    /** How long the first of them has waited, nanoseconds. */
    long waited(long now) {
        return now - waitingSince;
    }

    /** A change came. Returns what to store now; if it is empty, the change waits. */
    Optional<ReadyChange> add(ReadyChange change, long now) {
        if (waiting.isPresent()) {
            waiting = waiting.map(before -> before.then(change));
            return Optional.empty();
        }
        if (usedUntil - now > (BURST - 1) * PERIOD.toNanos()) {
            waiting = Optional.of(change);
            waitingSince = now;
            return Optional.empty();
        }
        use(now);
        return Optional.of(change);
    }

    /** Returns the changes that wait, as one, to store now. */
    Optional<ReadyChange> release(long now) {
        Optional<ReadyChange> released = waiting;
        if (released.isPresent()) {
            use(now);
            waiting = Optional.empty();
        }
        return released;
    }

    private void use(long now) {
        usedUntil = Math.max(usedUntil, now) + PERIOD.toNanos();
    }
}
