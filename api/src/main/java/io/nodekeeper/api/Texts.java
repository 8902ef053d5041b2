package io.nodekeeper.api;

/** Texts from elsewhere, which may have any length. Stateless. */
public final class Texts {
    private Texts() {}

    /** At most {@code longest} characters of {@code text}; an ellipsis shows where it was cut. */
    public static String cut(String text, int longest) {
        return cut(text, longest, "…");
    }

    /** At most {@code longest} characters of {@code text}, and {@code mark} at the end if it was cut. */
    public static String cut(String text, int longest, String mark) {
        if (text.length() <= longest) {
            return text;
        }
        int end = longest - mark.length();
        // Half of a character could not be stored.
        return text.substring(0, Character.isHighSurrogate(text.charAt(end - 1)) ? end - 1 : end) + mark;
    }
}
