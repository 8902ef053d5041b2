package io.nodekeeper.agent.pods.sync;

import io.nodekeeper.time.GoDuration;
import java.time.Duration;
import java.time.Instant;

/**
 * A pause between attempts that doubles from 10 s to 5 min, and begins at 10 s again if nothing failed for twice the longest
 * pause: the kubelet's numbers. Immutable.
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

    /** The pause after one more attempt, at {@code now}. */
    Pause next(Instant now) {
        boolean calm = updated.plus(LONGEST.multipliedBy(2)).isBefore(now);
        if (length.isZero() || calm) {
            return new Pause(FIRST, now);
        }
        Duration doubled = length.multipliedBy(2);
        return new Pause(doubled.compareTo(LONGEST) < 0 ? doubled : LONGEST, now);
    }

    /** When an attempt may be made after a failure at {@code failed}; at once if the clock was set back since. */
    Instant until(Instant failed, Instant now) {
        boolean calm = updated.plus(LONGEST.multipliedBy(2)).isBefore(now);
        return calm || failed.isAfter(now) ? now : failed.plus(length);
    }

    /** Its length for people, such as {@code 1m20s}. */
    String text() {
        return GoDuration.format(length);
    }
}
