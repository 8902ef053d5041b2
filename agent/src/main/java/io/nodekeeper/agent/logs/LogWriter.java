package io.nodekeeper.agent.logs;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.time.DateTimeException;
import java.time.OffsetDateTime;
import java.time.format.DateTimeFormatter;
import java.util.HashSet;
import java.util.Set;

/**
 * Turns records into what a client sees: joins partial lines, leaves out what is too old, adds times, and stops at the
 * limit. Used by one thread at a time.
 */
final class LogWriter {
    /** The kubelet's form: nine digits of a second. */
    private static final DateTimeFormatter TIME = DateTimeFormatter.ofPattern("uuuu-MM-dd'T'HH:mm:ss.SSSSSSSSSXXX");

    private final LogOptions options;
    /** The streams whose last record was partial; two at most. */
    private final Set<String> unfinished = new HashSet<>();

    private long left;

    LogWriter(LogOptions options) {
        this.options = options;
        left = options.limitBytes().orElse(Long.MAX_VALUE);
    }

    /** Whether the limit is reached, so that nothing more will be written. */
    boolean isFull() {
        return left == 0;
    }

    /** Writes {@code line} to {@code out}; leaves out a line whose time is unknown or too early. */
    void write(LogRecord line, ByteArrayOutputStream out) {
        boolean begins = !unfinished.contains(line.stream());
        if (options.since().isPresent() || options.timestamps()) {
            OffsetDateTime time;
            try {
                time = OffsetDateTime.parse(line.time());
            } catch (DateTimeException e) {
                return;
            }
            if (options.since().filter(time.toInstant()::isBefore).isPresent()) {
                return;
            }
            if (options.timestamps() && begins) {
                put((TIME.format(time) + " ").getBytes(StandardCharsets.US_ASCII), out);
            }
        }
        put(line.content(), out);
        if (line.partial()) {
            unfinished.add(line.stream());
        } else {
            unfinished.remove(line.stream());
            put(new byte[] {'\n'}, out);
        }
    }

    private void put(byte[] bytes, ByteArrayOutputStream out) {
        int size = (int) Math.min(bytes.length, left);
        out.write(bytes, 0, size);
        left -= size;
    }
}
