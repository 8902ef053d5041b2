package io.nodekeeper.apiserver.eventratelimit;

/** Tokens that come at a steady rate and gather up to a burst. Guarded by its owner. */
final class TokenBucket {
    private final double perSecond;
    private final double burst;
    private double tokens;
    private long at;

    /** Full at {@code now}, in nanoseconds. */
    TokenBucket(double perSecond, double burst, long now) {
        this.perSecond = perSecond;
        this.burst = burst;
        tokens = burst;
        at = now;
    }

    /** Takes {@code count} tokens if there are so many; more than a burst needs a full bucket. */
    boolean take(double count, long now) {
        tokens = Math.min(burst, tokens + Math.max(0, now - at) / 1e9 * perSecond);
        at = Math.max(at, now);
        if (tokens < Math.min(count, burst)) {
            return false;
        }
        tokens -= count;
        return true;
    }
}
