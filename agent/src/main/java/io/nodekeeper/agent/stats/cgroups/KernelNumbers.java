package io.nodekeeper.agent.stats.cgroups;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.OptionalLong;

/** Parses numbers in files of the kernel. Pure. */
public final class KernelNumbers {
    /** More digits than this may not fit into 64 bits. */
    private static final int MOST_DIGITS = 18;

    private KernelNumbers() {}

    /** The number that {@code text} is, blanks around it ignored; empty for other text, such as {@code max}. */
    public static OptionalLong number(String text) {
        String digits = text.strip();
        if (digits.isEmpty() || digits.length() > MOST_DIGITS) {
            return OptionalLong.empty();
        }
        long value = 0;
        for (int i = 0; i < digits.length(); i++) {
            char digit = digits.charAt(i);
            if (digit < '0' || digit > '9') {
                return OptionalLong.empty();
            }
            value = value * 10 + (digit - '0');
        }
        return OptionalLong.of(value);
    }

    /**
     * The lines of the form {@code NAME NUMBER}, as in {@code memory.stat}, or {@code NAME: NUMBER kB}, as in
     * {@code meminfo}, whose colon and unit are left out. Other lines are ignored, as are numbers of more than 18 digits.
     */
    public static Map<String, Long> fields(String text) {
        Map<String, Long> fields = new LinkedHashMap<>();
        text.lines().forEach(line -> {
            String[] words = line.strip().split("[: ]+", 3);
            if (words.length > 1) {
                number(words[1]).ifPresent(value -> fields.put(words[0], value));
            }
        });
        return fields;
    }
}
