package io.nodekeeper.time;

/** A token bucket: tokens are added at a steady rate up to a limit, and each action takes one. Not thread-safe. */
public final class TokenBucket {
    private final double perNano;
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
        this.perNano = perSecond / 1e9;
        this.burst = burst;
        this.tokens = burst;
        this.filledAt = nowNanos;
    }

    /** Takes a token if there is one at {@code nowNanos}. */
    public boolean tryTake(long nowNanos) {
        tokens = Math.min(burst, tokens + (nowNanos - filledAt) * perNano);
        filledAt = nowNanos;
        if (tokens < 1) {
            return false;
        }
        tokens -= 1;
        return true;
    }
}
