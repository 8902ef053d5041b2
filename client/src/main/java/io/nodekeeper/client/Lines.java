package io.nodekeeper.client;

import java.util.Arrays;

/**
 * Lines of a stream that arrived together, in one array of bytes, which its owner uses again when the handler has dealt
 * with them. Not thread-safe.
 */
public final class Lines {
    private byte[] bytes = new byte[0];
    /** Where each line begins and ends, in turn. */
    private int[] bounds = new int[64];

    private int count;

    /** Lines without any line. */
    Lines() {}

    /** How many there are. */
    public int count() {
        return count;
    }

    /** What holds them; not to be changed or kept. */
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

    /** Forgets the lines; new ones lie in {@code next}. */
    void reset(byte[] next) {
        bytes = next;
        count = 0;
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
