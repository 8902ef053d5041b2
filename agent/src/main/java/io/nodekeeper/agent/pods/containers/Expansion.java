package io.nodekeeper.agent.pods.containers;

import java.util.Map;

/**
 * Replaces {@code $(NAME)} in commands, arguments and values by variables, as Kubernetes does: {@code $$} is a dollar sign,
 * and a reference to a variable that does not exist stays as it is. Linear in the length of the text.
 */
final class Expansion {
    private Expansion() {}

    static String expand(String text, Map<String, String> variables) {
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
                String name = text.substring(at + 2, end);
                String value = variables.get(name);
                result.append(value == null ? text.substring(at, end + 1) : value);
                at = end + 1;
            }
        }
        return result.toString();
    }
}
