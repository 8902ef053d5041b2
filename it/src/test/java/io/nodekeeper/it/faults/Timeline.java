package io.nodekeeper.it.faults;

import java.util.ArrayList;
import java.util.List;

/** A row of words, one a second, with equal neighbours joined. */
final class Timeline {
    private Timeline() {}

    /** For example {@code 1-3 s Unknown A; 4 s B; from 5 s True B}. */
    static String of(List<String> seconds) {
        List<String> parts = new ArrayList<>();
        int from = 0;
        for (int i = 1; i <= seconds.size(); i++) {
            if (i == seconds.size()) {
                parts.add("from " + (from + 1) + " s " + seconds.get(from));
            } else if (!seconds.get(i).equals(seconds.get(from))) {
                parts.add((from + 1) + (i > from + 1 ? "-" + i : "") + " s " + seconds.get(from));
                from = i;
            }
        }
        return String.join("; ", parts);
    }
}
