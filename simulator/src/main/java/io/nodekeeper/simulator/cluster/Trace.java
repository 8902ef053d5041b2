package io.nodekeeper.simulator.cluster;

import io.nodekeeper.time.VirtualTime;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.HexFormat;
import java.util.function.Consumer;

/** The record of a run, line by line: the time since the start, who, and what. The same seed gives the same bytes. */
public final class Trace {
    private final VirtualTime time;
    private final Consumer<String> sink;
    private final MessageDigest digest;
    private long lines;

    /** A trace whose lines also go to {@code sink}. */
    Trace(VirtualTime time, Consumer<String> sink) {
        this.time = time;
        this.sink = sink;
        try {
            digest = MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java has SHA-256", e);
        }
    }

    /** Adds a line: {@code who} did {@code what}, or was affected by it, at the current time. */
    public void add(String who, String what) {
        String line = stamp(time.elapsed()) + " " + who + " " + what;
        digest.update(line.getBytes(StandardCharsets.UTF_8));
        digest.update((byte) '\n');
        lines++;
        sink.accept(line);
    }

    /** The number of lines. */
    public long lines() {
        return lines;
    }

    /** SHA-256 of all lines; closes the trace. */
    public String hash() {
        return HexFormat.of().formatHex(digest.digest());
    }

    private static String stamp(Duration elapsed) {
        long micros = elapsed.toNanos() / 1_000;
        StringBuilder text =
                new StringBuilder(15).append(micros / 3_600_000_000L).append(':');
        padded(text, micros / 60_000_000 % 60, 2).append(':');
        padded(text, micros / 1_000_000 % 60, 2).append('.');
        return padded(text, micros % 1_000_000, 6).toString();
    }

    private static StringBuilder padded(StringBuilder text, long value, int width) {
        String digits = Long.toString(value);
        return text.append("0".repeat(width - digits.length())).append(digits);
    }
}
