package io.nodekeeper.controller;

/**
 * The longest gap between the signs of life of one node, over the last one to two windows. Windows are numbered by the
 * caller, so no pass over all nodes is needed when one ends. 24 bytes. Not thread-safe.
 */
final class GapPeak {
    private float longest;
    private float longestBefore;
    private int window;

    /** A gap of {@code nanos} ended in that window. */
    void record(long nanos, int in) {
        moveTo(in);
        longest = Math.max(longest, (float) (nanos / 1e9));
    }

    /** The longest gap that ended in that window or the one before, seconds; 0 if none did. */
    double seconds(int in) {
        moveTo(in);
        return Math.max(longest, longestBefore);
    }

    private void moveTo(int next) {
        if (next != window) {
            longestBefore = next == window + 1 ? longest : 0;
            longest = 0;
            window = next;
        }
    }
}
