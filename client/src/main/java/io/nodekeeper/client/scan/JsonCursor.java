package io.nodekeeper.client.scan;

/**
 * Reads one JSON value in a range of bytes without creating any object. It is stricter than JSON: it rejects text that
 * is not plain ASCII, {@code \}{@code u} escapes and nesting deeper than 32, and everything that JSON forbids except
 * repeated fields. Methods return false, or {@link #MALFORMED}, if the input is not as expected, and may be called in
 * any state. Not thread-safe.
 */
final class JsonCursor {
    /** See the methods. */
    static final int MALFORMED = -1;

    private static final int DEEPEST = 32;
    /** As {@link io.nodekeeper.api.json.Json} allows. */
    private static final int LONGEST_NUMBER = 100;

    private byte[] bytes = new byte[0];
    private int at;
    private int end;
    private int textFrom;
    private int textEnd;
    private boolean escaped;

    /** Starts at {@code from}; {@code to} is the end. */
    void reset(byte[] input, int from, int to) {
        bytes = input;
        at = from;
        end = to;
    }

    /** Where the text last read begins. */
    int textFrom() {
        return textFrom;
    }

    /** Where the text last read ends. */
    int textEnd() {
        return textEnd;
    }

    /** Whether the text last read has escapes, so that its bytes are not its characters. */
    boolean isEscaped() {
        return escaped;
    }

    /** Skips white space and returns the next byte without reading it, or {@link #MALFORMED} at the end. */
    int peek() {
        while (at < end) {
            byte b = bytes[at];
            if (b != ' ' && b != '\t' && b != '\r' && b != '\n') {
                return b;
            }
            at++;
        }
        return MALFORMED;
    }

    /** Skips white space and the character {@code expected}. */
    boolean pass(int expected) {
        if (peek() != expected) {
            return false;
        }
        at++;
        return true;
    }

    /** Whether nothing but white space is left. */
    boolean atEnd() {
        return peek() == MALFORMED && at >= end;
    }

    /** Reads a string; its range is then the text. */
    boolean text() {
        if (!pass('"')) {
            return false;
        }
        escaped = false;
        textFrom = at;
        int i = at;
        while (i < end) {
            byte b = bytes[i];
            if (b == '"') {
                textEnd = i;
                at = i + 1;
                return true;
            }
            // Bytes beyond ASCII are negative.
            if (b < ' ') {
                return false;
            }
            if (b == '\\') {
                escaped = true;
                i++;
                if (!isShortEscape(i)) {
                    return false;
                }
            }
            i++;
        }
        return false;
    }

    /** Reads a string, or a null, which is then the empty text. */
    boolean textOrNull() {
        if (!passNull()) {
            return text();
        }
        escaped = false;
        textFrom = at;
        textEnd = at;
        return true;
    }

    /** Reads a field's name and the colon behind it; the name is then the text. */
    boolean name() {
        return text() && pass(':');
    }

    /** After a field or item: 1 if there is another one, 0 if {@code close} ended them, else {@link #MALFORMED}. */
    int more(int close) {
        if (pass(',')) {
            return 1;
        }
        return pass(close) ? 0 : MALFORMED;
    }

    /** Skips a null; false, and skips nothing, if there is something else. */
    boolean passNull() {
        return peek() == 'n' && word("null");
    }

    /** Skips any value. */
    boolean skip() {
        return skip(0);
    }

    /** Whether the text last read is {@code expected}, which is ASCII. */
    boolean textIs(String expected) {
        return is(bytes, textFrom, textEnd - textFrom, expected) && !escaped;
    }

    /** Whether these bytes are the characters of {@code expected}, which is ASCII. */
    static boolean is(byte[] bytes, int from, int length, String expected) {
        if (expected.length() != length) {
            return false;
        }
        for (int i = 0; i < length; i++) {
            if (bytes[from + i] != expected.charAt(i)) {
                return false;
            }
        }
        return true;
    }

    private boolean skip(int depth) {
        if (depth > DEEPEST) {
            return false;
        }
        return switch (peek()) {
            case '{' -> skipAll('}', true, depth);
            case '[' -> skipAll(']', false, depth);
            case '"' -> text();
            case 't' -> word("true");
            case 'f' -> word("false");
            case 'n' -> word("null");
            default -> number();
        };
    }

    private boolean skipAll(int close, boolean named, int depth) {
        at++;
        if (pass(close)) {
            return true;
        }
        int more = 1;
        while (more == 1) {
            if ((named && !name()) || !skip(depth + 1)) {
                return false;
            }
            more = more(close);
        }
        return more == 0;
    }

    private boolean word(String word) {
        int length = word.length();
        if (length > end - at || !is(bytes, at, length, word)) {
            return false;
        }
        at += length;
        return true;
    }

    private boolean number() {
        int from = at;
        if (at < end && bytes[at] == '-') {
            at++;
        }
        int first = at;
        if (digits() == 0 || (bytes[first] == '0' && at - first > 1)) {
            return false;
        }
        if (at < end && bytes[at] == '.') {
            at++;
            if (digits() == 0) {
                return false;
            }
        }
        if (at < end && (bytes[at] == 'e' || bytes[at] == 'E')) {
            at++;
            if (at < end && (bytes[at] == '+' || bytes[at] == '-')) {
                at++;
            }
            if (digits() == 0) {
                return false;
            }
        }
        return at - from <= LONGEST_NUMBER;
    }

    private int digits() {
        int from = at;
        while (at < end && bytes[at] >= '0' && bytes[at] <= '9') {
            at++;
        }
        return at - from;
    }

    private boolean isShortEscape(int i) {
        return i < end
                && switch (bytes[i]) {
                    case '"', '\\', '/', 'b', 'f', 'n', 'r', 't' -> true;
                    default -> false;
                };
    }
}
