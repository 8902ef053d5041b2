package io.nodekeeper.client;

import java.util.Arrays;

/**
 * Lines of a stream that arrived together, in one byte array, which its owner reuses when the handler has processed
 * them. Not thread-safe.
 */
public final class Lines {
    private byte[] bytes = new byte[0];
    /** The start and the end of each line, alternating. */
    private int[] bounds = new int[64];

    private int count;

    /** An empty set of lines. */
    Lines() {}

    /** The number of lines. */
    public int count() {
        return count;
    }

    /** The array with the lines; must not be changed or kept. */
    public byte[] bytes() {
        return bytes;
    }

    /** Where line {@code i} begins. */
    public int from(int i) {
        return bounds[2 * i];
    }

    /** Where line {@code i} ends, without its end of line. */
    public int to(int i) {
        return bounds[2 * i + 1];
    }

    /** Line {@code i}, copied. */
    public byte[] copy(int i) {
        return Arrays.copyOfRange(bytes, from(i), to(i));
    }

    /** Removes the lines; new ones are in {@code next}. */
    void reset(byte[] next) {
        bytes = next;
        count = 0;
    }

    /** The lines are in {@code copy} now, at the same places. */
    void moveTo(byte[] copy) {
        bytes = copy;
    }

    void add(int from, int to) {
        if (bounds.length < 2 * (count + 1)) {
            bounds = Arrays.copyOf(bounds, 2 * bounds.length);
        }
        bounds[2 * count] = from;
        bounds[2 * count + 1] = to;
        count++;
    }
}
