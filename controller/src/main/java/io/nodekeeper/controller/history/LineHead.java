package io.nodekeeper.controller.history;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Optional;

/**
 * The beginning of a stored decision, as {@link Decision#json} orders its fields. It says whether the rest is worth
 * parsing, which takes most of the time of a search. Immutable.
 *
 * @param at the time, not yet parsed
 * @param node the node's name; may be empty
 * @param uid the UID of the node, or of a pod without a node; may be empty
 * @param kind the kind
 */
record LineHead(String at, String node, String uid, String kind) {
    private static final byte[] AT = bytes("{\"at\":\"");
    private static final byte[] NODE = bytes(",\"node\":\"");
    private static final byte[] UID = bytes(",\"uid\":\"");
    private static final byte[] KIND = bytes(",\"kind\":\"");

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }

    /** The head of the line between two positions; empty if it has another form, such as an escaped character. */
    static Optional<LineHead> of(byte[] bytes, int from, int to) {
        Cursor cursor = new Cursor(bytes, from, to);
        String at = cursor.text(AT);
        String node = cursor.text(NODE);
        String uid = cursor.text(UID);
        String kind = cursor.text(KIND);
        return at.isEmpty() || kind.isEmpty() ? Optional.empty() : Optional.of(new LineHead(at, node, uid, kind));
    }

    private static final class Cursor {
        private final byte[] bytes;
        private final int end;
        private int position;

        private Cursor(byte[] bytes, int from, int to) {
            this.bytes = bytes;
            this.position = from;
            this.end = to;
        }

        /** The value of the field that begins with {@code name}; empty, without a step, if another one is next. */
        private String text(byte[] name) {
            int start = position + name.length;
            if (start > end || !Arrays.equals(bytes, position, start, name, 0, name.length)) {
                return "";
            }
            for (int i = start; i < end && bytes[i] != '\\'; i++) {
                if (bytes[i] == '"') {
                    position = i + 1;
                    return new String(bytes, start, i - start, StandardCharsets.UTF_8);
                }
            }
            return "";
        }
    }
}
