package io.nodekeeper.cli.output;

/** A word of a command that a user can copy into a shell. Stateless. */
public final class ShellWord {
    /** What needs no quotes: everything that a node's name may have, and addresses and paths. */
    private static final String PLAIN = "[A-Za-z0-9._:/@%+=,-]+";

    private ShellWord() {}

    /** The word {@code text}, in quotes if it needs them. */
    public static String of(Object text) {
        String word = text.toString();
        return word.matches(PLAIN) ? word : "'" + word.replace("'", "'\\''") + "'";
    }
}
