package io.nodekeeper.cli.output;

import java.util.function.IntFunction;

/**
 * Makes text from elsewhere harmless for terminals and logs: names and messages may contain anything. Control and
 * formatting characters, which can move the cursor, or hide and turn words, become code points such as U+001B.
 * Stateless.
 */
public final class Printable {
    /** The most characters of one value: sentences have about 200, commands with long paths more. */
    public static final int VALUE = 2_000;

    private Printable() {}

    /** {@code text} with its line ends and tabs. */
    public static String text(String text) {
        return replace(text, c -> c == '\n' || c == '\t' ? Character.toString(c) : "U+%04X".formatted(c));
    }

    /** The same; an ellipsis replaces the middle of a text with more than {@code longest} characters. */
    public static String text(String text, int longest) {
        return text(shortened(text, longest));
    }

    /** {@code text} in one line: line ends and tabs become spaces. */
    public static String line(String text) {
        return replace(text, c -> c == '\n' || c == '\t' ? " " : "U+%04X".formatted(c));
    }

    /** The same; an ellipsis replaces the middle of a text with more than {@code longest} characters. */
    public static String line(String text, int longest) {
        return line(shortened(text, longest));
    }

    /** JSON with the same content, in which such characters are escapes. */
    public static String json(String json) {
        return replace(json, c -> c == '\n' ? "\n" : escape(c));
    }

    private static String escape(int c) {
        StringBuilder escapes = new StringBuilder();
        for (char unit : Character.toChars(c)) {
            escapes.append("\\u%04x".formatted((int) unit));
        }
        return escapes.toString();
    }

    private static String shortened(String text, int longest) {
        return text.length() <= longest
                ? text
                : text.substring(0, longest / 2) + " ... " + text.substring(text.length() - longest / 2);
    }

    private static String replace(String text, IntFunction<String> replacement) {
        if (text.codePoints().noneMatch(Printable::isHarmful)) {
            return text;
        }
        StringBuilder safe = new StringBuilder(text.length() + 16);
        text.codePoints().forEach(c -> {
            if (isHarmful(c)) {
                safe.append(replacement.apply(c));
            } else {
                safe.appendCodePoint(c);
            }
        });
        return safe.toString();
    }

    private static boolean isHarmful(int c) {
        return switch (Character.getType(c)) {
            case Character.CONTROL,
                    Character.FORMAT,
                    Character.SURROGATE,
                    Character.UNASSIGNED,
                    Character.LINE_SEPARATOR,
                    Character.PARAGRAPH_SEPARATOR -> true;
            default -> false;
        };
    }
}
