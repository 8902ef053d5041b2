package io.nodekeeper.apiserver.writes;

import java.util.Arrays;

/** Comparison of bytes. */
final class Bytes {
    private Bytes() {}

    /** Whether {@code bytes} have {@code expected} at {@code at}. */
    static boolean has(byte[] bytes, int at, byte[] expected) {
        int end = at + expected.length;
        return at >= 0 && end <= bytes.length && Arrays.equals(bytes, at, end, expected, 0, expected.length);
    }
}
