package io.nodekeeper.agent.pods.containers;

import java.util.Map;
import java.util.function.UnaryOperator;

/**
 * Replaces {@code $(NAME)} in commands, arguments and values by variables, as Kubernetes does: {@code $$} is a dollar sign,
 * and a reference to a variable that does not exist stays as it is. Linear in the length of the text.
 */
final class Expansion {
    private Expansion() {}

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
        return result.toString();
    }
}
