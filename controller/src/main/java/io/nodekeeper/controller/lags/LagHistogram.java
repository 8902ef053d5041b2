package io.nodekeeper.controller.lags;

import java.time.Duration;
import java.util.Arrays;

/**
 * A histogram of durations over the last one to two windows: 32 buckets for each power of two of milliseconds, so that
 * percentiles are at most 3 % too high. Recording costs O(1) and allocates nothing. Not thread-safe.
 */
final class LagHistogram {
    /** Buckets per power of two; also the number of exact buckets, one per millisecond. */
    private static final int PER_OCTAVE = 32;

    private static final int SHIFT = 5;
    /** Up to 2^31 ms, about 25 days. */
    private static final int BUCKETS = PER_OCTAVE * (32 - SHIFT);

    private int[] counts = new int[BUCKETS];
    private int[] countsBefore = new int[BUCKETS];
    private long longest = -1;
    private long longestBefore = -1;
    private String longestNode = "";
    private String longestNodeBefore = "";

    /** Records that {@code node} took {@code nanos}; a negative value counts as 0. */
    void record(long nanos, String node) {
        counts[bucket(Math.max(0, nanos) / 1_000_000)]++;
        if (nanos > longest) {
            longest = nanos;
            longestNode = node;
        }
    }

    /** Starts a new window and drops the one before the last. */
    void rotate() {
        int[] free = countsBefore;
        countsBefore = counts;
        counts = free;
        Arrays.fill(counts, 0);
        longestBefore = longest;
        longestNodeBefore = longestNode;
        longest = -1;
        longestNode = "";
    }

    /** A summary of the recorded durations. */
    LagSummary summary() {
        long count = 0;
        for (int i = 0; i < BUCKETS; i++) {
            count += counts[i] + (long) countsBefore[i];
        }
        boolean before = longestBefore > longest;
        long max = Math.max(0, before ? longestBefore : longest);
        return new LagSummary(
                count,
                percentile(count, 500, max),
                percentile(count, 990, max),
                percentile(count, 999, max),
                Duration.ofNanos(max),
                before ? longestNodeBefore : longestNode);
    }

    /** The smallest duration that {@code perMille} of all did not exceed. */
    private Duration percentile(long count, int perMille, long max) {
        long rank = Math.ceilDiv(count * perMille, 1_000);
        long seen = 0;
        for (int i = 0; i < BUCKETS; i++) {
            seen += counts[i] + (long) countsBefore[i];
            if (seen >= rank) {
                return Duration.ofNanos(Math.min(max, end(i) * 1_000_000));
            }
        }
        return Duration.ofNanos(max);
    }

    private static int bucket(long millis) {
        long capped = Math.min(millis, Integer.MAX_VALUE);
        if (capped < PER_OCTAVE) {
            return (int) capped;
        }
        int octave = 63 - Long.numberOfLeadingZeros(capped) - SHIFT;
        return (octave + 1) * PER_OCTAVE + (int) (capped >> octave) - PER_OCTAVE;
    }

    /** The first millisecond beyond the bucket. */
    private static long end(int bucket) {
        if (bucket < PER_OCTAVE) {
            return bucket + 1L;
        }
        int octave = bucket / PER_OCTAVE - 1;
        return (bucket % PER_OCTAVE + PER_OCTAVE + 1L) << octave;
    }
}
