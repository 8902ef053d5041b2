package io.nodekeeper.cri.docker;

import java.io.IOException;

/** What came back is not the answer that HTTP/1.1 or Docker's API prescribes; the message says what was expected. */
final class UnreadableException extends IOException {
    /** The most characters of an unreadable answer that a message quotes. */
    private static final int QUOTED = 60;

    UnreadableException(String message) {
        super(message);
    }

    /** The beginning of {@code text} in quotation marks, with dots for what is not printable ASCII. */
    static String quote(String text) {
        String start = text.substring(0, Math.min(text.length(), QUOTED));
        return "\"" + start.replaceAll("[^ -~]", ".") + (text.length() > QUOTED ? "…" : "") + "\"";
    }
}
