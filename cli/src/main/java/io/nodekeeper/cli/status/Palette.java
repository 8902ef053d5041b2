package io.nodekeeper.cli.status;

import java.io.Console;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Colours words on a terminal, and leaves them as they are elsewhere. */
record Palette(boolean colours) {
    static final Palette PLAIN = new Palette(false);

    private static final String RESET = "\u001b[0m";

    /** Colours if standard input and output are a terminal that has them, and the user does not refuse them. */
    static Palette of(Map<String, String> environment, @Nullable Console console) {
        boolean refused = !environment.getOrDefault("NO_COLOR", "").isEmpty()
                || environment.getOrDefault("TERM", "dumb").equals("dumb");
        return new Palette(!refused && console != null && console.isTerminal());
    }

    /** For what is wrong. */
    String bad(String text) {
        return colour("31", text);
    }

    /** For what may become wrong. */
    String warning(String text) {
        return colour("33", text);
    }

    /** For what is well. */
    String good(String text) {
        return colour("32", text);
    }

    /** For titles. */
    String title(String text) {
        return colour("1", text);
    }

    /** What clears the screen before the next answer; on no terminal, an empty line. */
    String next() {
        return colours ? "\u001b[H\u001b[2J" : "\n";
    }

    private String colour(String code, String text) {
        return colours ? "\u001b[" + code + "m" + text + RESET : text;
    }
}
