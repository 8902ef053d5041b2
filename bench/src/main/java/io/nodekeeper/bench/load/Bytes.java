package io.nodekeeper.bench.load;

import io.netty.buffer.ByteBuf;
import java.nio.charset.StandardCharsets;

/** Finds fields in responses and watch lines without parsing them into objects. */
final class Bytes {
    static final byte[] HEAD_END = ascii("\r\n\r\n");
    private static final byte[] LENGTH = ascii("content-length:");

    private Bytes() {}

    static byte[] ascii(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }

    /** The index of the first {@code wanted} in {@code buffer} at or after {@code from}; -1 if there is none. */
    static int indexOf(ByteBuf buffer, byte[] wanted, int from) {
        int last = buffer.writerIndex() - wanted.length;
        for (int at = from; at <= last; at++) {
            at = buffer.indexOf(at, last + 1, wanted[0]);
            if (at < 0) {
                return -1;
            }
            int same = 1;
            while (same < wanted.length && buffer.getByte(at + same) == wanted[same]) {
                same++;
            }
            if (same == wanted.length) {
                return at;
            }
        }
        return -1;
    }

    /** The number whose digits begin at {@code at}. */
    static long number(ByteBuf buffer, int at) {
        long value = 0;
        for (int i = at; i < buffer.writerIndex(); i++) {
            int digit = buffer.getByte(i) - '0';
            if (digit < 0 || digit > 9) {
                break;
            }
            value = value * 10 + digit;
        }
        return value;
    }

    /** The number of exactly {@code digits} digits at {@code at}. */
    static int number(ByteBuf buffer, int at, int digits) {
        int value = 0;
        for (int i = at; i < at + digits; i++) {
            value = value * 10 + buffer.getByte(i) - '0';
        }
        return value;
    }

    /** The Content-Length among the header lines between {@code from} and {@code to}. */
    static int contentLength(ByteBuf buffer, int from, int to) {
        for (int line = from; line < to; ) {
            int end = buffer.indexOf(line, to, (byte) '\n');
            int same = 0;
            while (same < LENGTH.length && (buffer.getByte(line + same) | 0x20) == (LENGTH[same] | 0x20)) {
                same++;
            }
            if (same == LENGTH.length) {
                int at = line + same;
                while (buffer.getByte(at) == ' ') {
                    at++;
                }
                return (int) number(buffer, at);
            }
            if (end < 0) {
                break;
            }
            line = end + 1;
        }
        throw new IllegalStateException("an answer without Content-Length: "
                + buffer.toString(from, Math.min(to - from, 500), StandardCharsets.UTF_8));
    }
}
