package io.nodekeeper.time;

/** A token bucket: tokens are added at a steady rate up to a limit, and each action takes one. Not thread-safe. */
public final class TokenBucket {
    private final double perSecond;
    private final double burst;
    private double tokens;
    private long filledAt;

    /**
     * A full bucket.
     *
     * @param perSecond tokens added each second, 0 or more
     * @param burst the most tokens that it holds
     * @param nowNanos the monotonic time
     */
    public TokenBucket(double perSecond, double burst, long nowNanos) {
        this.perSecond = perSecond;
        this.burst = burst;
        this.tokens = burst;
        this.filledAt = nowNanos;
    }

    /** Takes a token if there is one at {@code nowNanos}. */
    public boolean tryTake(long nowNanos) {
        fill(nowNanos);
        if (tokens < 1) {
            return false;
        }
        tokens -= 1;
        return true;
    }

    /**
     * Takes {@code count} tokens if there are so many at {@code nowNanos}. More than a burst needs a full bucket and leaves a
     * debt, which later tokens pay first.
     */
    public boolean tryTake(double count, long nowNanos) {
        fill(nowNanos);
        if (tokens < Math.min(count, burst)) {
            return false;
        }
        tokens -= count;
        return true;
    }

    /** A time before the last one adds nothing. */
    private void fill(long nowNanos) {
        tokens = Math.min(burst, tokens + Math.max(0, nowNanos - filledAt) / 1e9 * perSecond);
        filledAt = Math.max(filledAt, nowNanos);
    }
}
