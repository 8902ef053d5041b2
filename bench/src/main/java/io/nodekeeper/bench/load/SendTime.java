package io.nodekeeper.bench.load;

import io.netty.buffer.ByteBuf;
import io.nodekeeper.api.KubeTime;
import java.time.Instant;

/**
 * Encodes in a renewal when it was due: {@code renewTime} is the wall time at the start of the benchmark plus the monotonic
 * time since then, so a watcher can compute a renewal's age to the microsecond without a table.
 */
final class SendTime {
    private static final long START_NANOS = System.nanoTime();
    private static final Instant START = Instant.now();

    private final byte[] text = new byte[27];
    private long second = Long.MIN_VALUE;

    /** Appends the MicroTime of {@code nanos}, of System.nanoTime. Not thread-safe. */
    void write(ByteBuf out, long nanos) {
        long micros = KubeTime.micros(START) + (nanos - START_NANOS) / 1_000;
        long whole = micros / 1_000_000;
        if (whole != second) {
            second = whole;
            System.arraycopy(Bytes.ascii(KubeTime.formatMicro(Instant.ofEpochSecond(whole))), 0, text, 0, text.length);
        }
        int fraction = (int) (micros % 1_000_000);
        for (int i = 25; i >= 20; i--) {
            text[i] = (byte) ('0' + fraction % 10);
            fraction /= 10;
        }
        out.writeBytes(text);
    }

    /**
     * The age, in nanoseconds at {@code now} of System.nanoTime, of the MicroTime at {@code at}; it must be within the
     * last 12 h.
     */
    static long age(ByteBuf line, int at, long now) {
        long micros = ((Bytes.number(line, at + 11, 2) * 60L + Bytes.number(line, at + 14, 2)) * 60
                                + Bytes.number(line, at + 17, 2))
                        * 1_000_000
                + Bytes.number(line, at + 20, 6);
        long day = 86_400_000_000L;
        long today = Math.floorMod(KubeTime.micros(START) + (now - START_NANOS) / 1_000, day);
        return Math.floorMod(today - micros, day) * 1_000;
    }
}
