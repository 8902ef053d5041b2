package io.nodekeeper.agent.problems.kernel;

import java.nio.charset.StandardCharsets;
import java.util.Optional;

/**
 * A record of {@code /dev/kmsg}: {@code PRIORITY,SEQUENCE,MICROSECONDS,FLAGS[,...];MESSAGE}, then lines with properties
 * that begin with a blank. Immutable.
 *
 * @param sequence grows by one with each record; a gap means that records were lost
 * @param micros the time since boot in microseconds
 * @param message the message, one line
 */
public record KmsgRecord(long sequence, long micros, String message) {

    /** The record in {@code bytes}; empty if it does not have this form. */
    public static Optional<KmsgRecord> parse(byte[] bytes) {
        String text = new String(bytes, StandardCharsets.UTF_8);
        int header = text.indexOf(';');
        if (header < 0) {
            return Optional.empty();
        }
        String[] fields = text.substring(0, header).split(",", 4);
        if (fields.length < 3 || !number(fields[0]) || !number(fields[1]) || !number(fields[2])) {
            return Optional.empty();
        }
        int end = text.indexOf('\n', header);
        String message = text.substring(header + 1, end < 0 ? text.length() : end);
        return Optional.of(new KmsgRecord(Long.parseLong(fields[1]), Long.parseLong(fields[2]), unescaped(message)));
    }

    /** The kernel writes unprintable bytes and backslashes as {@code \xNN}. */
    private static String unescaped(String message) {
        int escape = message.indexOf("\\x");
        if (escape < 0) {
            return message;
        }
        StringBuilder plain = new StringBuilder(message.length());
        int from = 0;
        while (escape >= 0) {
            plain.append(message, from, escape);
            int code = escape + 4 <= message.length() ? hex(message.substring(escape + 2, escape + 4)) : -1;
            if (code >= 0) {
                plain.append(code < ' ' || code == 127 ? ' ' : (char) code);
                from = escape + 4;
            } else {
                plain.append("\\x");
                from = escape + 2;
            }
            escape = message.indexOf("\\x", from);
        }
        return plain.append(message, from, message.length()).toString();
    }

    private static int hex(String two) {
        int high = Character.digit(two.charAt(0), 16);
        int low = Character.digit(two.charAt(1), 16);
        return high < 0 || low < 0 ? -1 : high * 16 + low;
    }

    private static boolean number(String text) {
        return !text.isEmpty() && text.length() <= 18 && text.chars().allMatch(c -> c >= '0' && c <= '9');
    }
}
