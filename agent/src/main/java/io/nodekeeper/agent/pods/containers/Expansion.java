package io.nodekeeper.agent.pods.containers;

import java.util.Map;
import java.util.function.UnaryOperator;

/**
 * Replaces {@code $(NAME)} in commands, arguments and values by variables, as Kubernetes does: {@code $$} is a dollar sign,
 * and a reference to a variable that does not exist stays as it is. Linear in the length of the result, which is bounded: variables
 * that name each other twice would double 25 times to more than a node's memory.
 */
final class Expansion {
    /** The longest result, in characters. Linux starts no program with a longer argument or variable ({@code MAX_ARG_STRLEN}). */
    static final int LONGEST = 128 << 10;

    /** The most characters of all arguments, or of all variables, of one container: Linux' limit at its default stack of 8 MiB. */
    static final int MOST = 2 << 20;

    /** What Linux counts for a variable besides its name and value: a pointer, an equals sign and the end. */
    static final int VARIABLE = 10;

    private Expansion() {}

    /** The length of {@code text} added to those before, {@code before}; refuses more than {@link #MOST} of {@code what}. */
    static int counted(int before, String text, String what) {
        if (text.length() > MOST - before) {
            throw new ContainerConfigException(what + " have more than " + MOST + " characters");
        }
        return before + text.length();
    }

    static String expand(String text, Map<String, String> variables) {
        return expand(text, name -> variables.getOrDefault(name, "$(" + name + ")"));
    }

    /**
     * As {@link #expand(String, Map)}, for texts that must not keep a reference.
     *
     * @throws ContainerConfigException if a variable does not exist
     */
    static String expandAll(String text, Map<String, String> variables) {
        return expand(text, name -> {
            String value = variables.get(name);
            if (value == null) {
                throw new ContainerConfigException("missing value for \"" + name + "\"");
            }
            return value;
        });
    }

    private static String expand(String text, UnaryOperator<String> variables) {
        if (text.indexOf('$') < 0) {
            return text;
        }
        StringBuilder result = new StringBuilder(text.length());
        int at = 0;
        while (at < text.length()) {
            check(text, result);
            char letter = text.charAt(at);
            char next = at + 1 < text.length() ? text.charAt(at + 1) : 0;
            if (letter != '$' || next != '$' && next != '(') {
                result.append(letter);
                at++;
            } else if (next == '$') {
                result.append('$');
                at += 2;
            } else {
                int end = text.indexOf(')', at + 2);
                if (end < 0) {
                    result.append(text, at, text.length());
                    break;
                }
                result.append(variables.apply(text.substring(at + 2, end)));
                at = end + 1;
            }
        }
        check(text, result);
        return result.toString();
    }

    private static void check(String text, CharSequence result) {
        if (result.length() > LONGEST) {
            throw new ContainerConfigException("\"" + text.substring(0, Math.min(text.length(), 100))
                    + "\" expands to more than " + LONGEST + " characters");
        }
    }
}
