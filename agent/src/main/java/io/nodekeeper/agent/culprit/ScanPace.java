package io.nodekeeper.agent.culprit;

import io.nodekeeper.time.Jitter;
import java.time.Duration;
import java.util.Set;
import java.util.random.RandomGenerator;

/**
 * Decides when the processes are scanned next, and how deep. While nothing is late, scans come every {@link #CALM}; while
 * something may be wrong, they are deep and come every {@link #ALERT}. Once everything that is wrong is known and nothing has
 * changed for {@link #SETTLED}, each pause is twice as long as the one before, up to {@link #LONGEST}. After a change the next
 * scan is due at once, and the pauses are short again. So in a time T after a change, if nothing else changes, there are at most
 * 8 + T / 6 s scans. Pure: times are arguments, in monotonic ns. Not thread-safe.
 */
final class ScanPace {
    /** The pause while nothing is wrong: two scans and the threshold of a hung command stay below 20 s. */
    static final Duration CALM = Duration.ofSeconds(5);
    /**
     * The pause while something may be wrong: containerd kills a hung runc after 10 s, which must be seen between 8 and
     * 10 s.
     */
    static final Duration ALERT = Duration.ofMillis(1_500);
    /**
     * The longest pause while known faults last. A thread in state D shows itself in the second scan, and counts after 9 s
     * and three scans: with two such pauses and two short ones, a new fault is still reported within 20 s.
     */
    static final Duration LONGEST = Duration.ofSeconds(6);
    /** Longer than every threshold whose passing is a culprit without another change: a call that starts something, 10 s. */
    static final Duration SETTLED = Duration.ofSeconds(12);

    private static final double JITTER = 0.1;
    /** {@link #ALERT} with the longest jitter. */
    private static final Duration LONGEST_ALERT = Duration.ofMillis(1_650);

    /** How much is known about what is wrong. */
    enum Trouble {
        /** Nothing is wrong. */
        NONE,
        /** Something may be wrong that is not explained, or explained by load, which the next scans must confirm. */
        OPEN,
        /** Something is wrong, and its cause is known. */
        KNOWN
    }

    /**
     * What a scan and the calls show. Immutable.
     *
     * @param calls the calls that are late or fail; equal while these are the same
     * @param findings the causes and the suspicious processes; equal while these are the same
     * @param soonest the time after which a running command reaches its threshold; longer than all pauses if none does
     */
    record Picture(Trouble trouble, Set<String> calls, Set<String> findings, Duration soonest) {
        Picture {
            calls = Set.copyOf(calls);
            findings = Set.copyOf(findings);
        }
    }

    private final RandomGenerator random;
    /** The first scan is deep, as a fault may be older than this watch. */
    private Picture last = new Picture(Trouble.OPEN, Set.of(), Set.of(), Duration.ZERO);

    private Duration pause = ALERT;
    private long changedAt;
    private long dueAt;

    /** The first scan is due at {@code now}; {@code random} lengthens each pause by up to a tenth. */
    ScanPace(RandomGenerator random, long now) {
        this.random = random;
        this.changedAt = now;
        this.dueAt = now;
    }

    /** Whether the next scan looks deep. */
    boolean isDeep() {
        return last.trouble != Trouble.NONE;
    }

    /** Whether a scan is due. */
    boolean isDue(long now) {
        return now - dueAt >= 0;
    }

    /** The time until the next scan, or until it is time to compare the calls again; zero if a scan is due. */
    Duration pause(long now) {
        Duration left = Duration.ofNanos(Math.max(0, dueAt - now));
        return isDeep() && left.compareTo(LONGEST_ALERT) > 0 ? ALERT : left;
    }

    /** A scan begins; if its end is never reported, the next one is due after the same pause. */
    void begun(long now) {
        dueAt = now + pause.toNanos();
    }

    /** A scan ended, and this is what it and the calls show. */
    void scanned(Picture picture, long now) {
        if (picture.trouble != Trouble.KNOWN
                || last.trouble != Trouble.KNOWN
                || !picture.calls.equals(last.calls)
                || !picture.findings.equals(last.findings)) {
            changedAt = now;
        }
        last = picture;
        if (picture.trouble == Trouble.NONE) {
            pause = CALM;
        } else if (now - changedAt < SETTLED.toNanos()) {
            pause = ALERT;
        } else {
            pause = shorter(pause.multipliedBy(2), LONGEST);
        }
        dueAt = now
                + shorter(Jitter.stretch(pause, JITTER, random), picture.soonest)
                        .toNanos();
    }

    /** Compares the calls that are late or fail with those at the last scan; a scan is due if they are others. */
    void compare(Set<String> calls, long now) {
        if (!isDeep() || !calls.equals(last.calls)) {
            hurry(now);
        }
    }

    /** Something changed: a deep scan is due, and the pauses are short again. */
    void hurry(long now) {
        last = new Picture(Trouble.OPEN, last.calls, last.findings, last.soonest);
        changedAt = now;
        dueAt = now;
    }

    private static Duration shorter(Duration a, Duration b) {
        return a.compareTo(b) < 0 ? a : b;
    }
}
