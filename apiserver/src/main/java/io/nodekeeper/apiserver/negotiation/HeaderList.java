package io.nodekeeper.apiserver.negotiation;

import java.util.ArrayList;
import java.util.List;

/** The elements of a header that is a list, such as Accept. A header is read before its sender is known, so this costs no more than it must. */
final class HeaderList {
    /** The most elements that count: browsers send eight types at most, clients of Kubernetes four. */
    static final int MOST = 32;

    private HeaderList() {}

    /** The first 32 elements of {@code header}, without the blanks around them; those without text are left out. */
    static List<String> elements(String header) {
        return split(header, ',');
    }

    /** The first 32 non-blank parts of {@code text}. */
    static List<String> split(String text, char separator) {
        List<String> parts = new ArrayList<>();
        int from = 0;
        for (int read = 0; read < MOST && from < text.length(); read++) {
            int end = text.indexOf(separator, from);
            String part = text.substring(from, end < 0 ? text.length() : end).strip();
            if (!part.isEmpty()) {
                parts.add(part);
            }
            from = end < 0 ? text.length() : end + 1;
        }
        return parts;
    }

    /** Whether {@code weight}, the parameter {@code q} of an element, is zero: the client refuses it. */
    static boolean isZero(String weight) {
        return weight.equals("0")
                || (weight.startsWith("0.") && weight.chars().skip(2).allMatch(digit -> digit == '0'));
    }
}
