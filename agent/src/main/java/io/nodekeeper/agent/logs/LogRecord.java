package io.nodekeeper.agent.logs;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Optional;

/**
 * One record of a log file in CRI's format: {@code TIME STREAM TAGS CONTENT}. Immutable.
 *
 * @param time in RFC 3339
 * @param stream stdout or stderr
 * @param partial whether the line continues in the next record of the stream
 * @param content without a line feed; must not be changed
 */
record LogRecord(String time, String stream, boolean partial, byte[] content) {
    /** The separator of tags; the first tag says whether the line continues. */
    private static final char TAGS = ':';

    /** Parses a record without its line feed; empty if it is malformed. */
    static Optional<LogRecord> parse(byte[] bytes, int from, int to) {
        int time = space(bytes, from, to);
        int stream = time < 0 ? -1 : space(bytes, time + 1, to);
        if (stream < 0) {
            return Optional.empty();
        }
        int tags = space(bytes, stream + 1, to);
        // A runtime may leave out the space before an empty content.
        int end = tags < 0 ? to : tags;
        String first = text(bytes, stream + 1, end);
        int more = first.indexOf(TAGS);
        String tag = more < 0 ? first : first.substring(0, more);
        String source = text(bytes, time + 1, stream);
        boolean known = (tag.equals("P") || tag.equals("F")) && (source.equals("stdout") || source.equals("stderr"));
        return known
                ? Optional.of(new LogRecord(
                        text(bytes, from, time),
                        source,
                        tag.equals("P"),
                        Arrays.copyOfRange(bytes, Math.min(end + 1, to), to)))
                : Optional.empty();
    }

    private static int space(byte[] bytes, int from, int to) {
        for (int i = from; i < to; i++) {
            if (bytes[i] == ' ') {
                return i;
            }
        }
        return -1;
    }

    private static String text(byte[] bytes, int from, int to) {
        return new String(bytes, from, to - from, StandardCharsets.US_ASCII);
    }
}
