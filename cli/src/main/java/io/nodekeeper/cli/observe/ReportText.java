package io.nodekeeper.cli.observe;

import io.nodekeeper.cli.command.Arguments;

/** Makes one harmless line of a text from elsewhere: a name or a sentence in a history may contain anything. */
final class ReportText {
    /** The most characters of one text: sentences have about 200, commands with long paths more. */
    private static final int LONGEST = 2_000;

    private ReportText() {}

    /** The text without line ends; control and formatting characters, which can hide or turn words, become code points. */
    static String line(String text) {
        String shown = Arguments.printable(text, LONGEST).replace('\n', ' ').replace('\t', ' ');
        StringBuilder safe = new StringBuilder(shown.length());
        shown.codePoints().forEach(c -> {
            int type = Character.getType(c);
            if (type == Character.FORMAT
                    || type == Character.SURROGATE
                    || type == Character.UNASSIGNED
                    || type == Character.LINE_SEPARATOR
                    || type == Character.PARAGRAPH_SEPARATOR) {
                safe.append("U+%04X".formatted(c));
            } else {
                safe.appendCodePoint(c);
            }
        });
        return safe.toString();
    }
}
