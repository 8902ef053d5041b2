package io.nodekeeper.agent.pods.sync;

import io.nodekeeper.time.GoDuration;
import java.time.Duration;
import java.time.Instant;

/**
 * A pause between attempts that doubles from 10 s to 5 min, and begins at 10 s again after an attempt that failed only after twice
 * the longest pause: the kubelet's numbers. Immutable.
 *
 * @param length the pause after the newest attempt; zero before the first one
 * @param updated when it was last lengthened
 */
public record Pause(Duration length, Instant updated) {
    /** No failure yet. */
    public static final Pause NONE = new Pause(Duration.ZERO, Instant.EPOCH);

    /** The first pause. */
    static final Duration FIRST = Duration.ofSeconds(10);
    /** The longest pause. */
    static final Duration LONGEST = Duration.ofMinutes(5);

    /** The pause after one more attempt, which is decided at {@code now} because the last one failed at {@code failed}. */
    Pause next(Instant failed, Instant now) {
        if (length.isZero() || wasCalm(failed)) {
            return new Pause(FIRST, now);
        }
        Duration doubled = length.multipliedBy(2);
        return new Pause(doubled.compareTo(LONGEST) < 0 ? doubled : LONGEST, now);
    }

    /** When an attempt may be made after a failure at {@code failed}; at once if the clock was set back since. */
    Instant until(Instant failed, Instant now) {
        return wasCalm(failed) || failed.isAfter(now) ? now : failed.plus(length);
    }

    /** Whether the last attempt went well for long. The pause before it and the one after it do not count. */
    private boolean wasCalm(Instant failed) {
        return updated.plus(LONGEST.multipliedBy(2)).isBefore(failed);
    }

    /** Its length for people, such as {@code 1m20s}. */
    String text() {
        return GoDuration.format(length);
    }
}
