package io.nodekeeper.apiserver.printers;

import java.time.Duration;

/** Texts of cells that several tables have. */
final class CellText {
    /** The age from which on a time is too far ahead to be now (Kubernetes). */
    private static final Duration AHEAD = Duration.ofSeconds(-2);

    private CellText() {}

    /**
     * An age as kubectl prints it: {@code 12s}, {@code 3m48s}, {@code 69m}, {@code 5h12m}, {@code 3d}, {@code 2y10d}. A time
     * less than two seconds ahead counts as now, because the clocks of machines differ.
     */
    static String age(Duration age) {
        if (age.compareTo(AHEAD) <= 0) {
            return "<invalid>";
        }
        long seconds = Math.max(0, age.toSeconds());
        long minutes = seconds / 60;
        long hours = minutes / 60;
        long days = hours / 24;
        if (seconds < 120) {
            return seconds + "s";
        }
        if (minutes < 10) {
            return minutes + "m" + (seconds % 60 == 0 ? "" : seconds % 60 + "s");
        }
        if (minutes < 180) {
            return minutes + "m";
        }
        if (hours < 8) {
            return hours + "h" + (minutes % 60 == 0 ? "" : minutes % 60 + "m");
        }
        if (hours < 48) {
            return hours + "h";
        }
        if (days < 8) {
            return days + "d" + (hours % 24 == 0 ? "" : hours % 24 + "h");
        }
        if (days < 730) {
            return days + "d";
        }
        return days / 365 + "y" + (days % 365 == 0 || days / 365 >= 8 ? "" : days % 365 + "d");
    }

    /** The text; {@code <none>} instead of an empty one. */
    static String orNone(String text) {
        return text.isEmpty() ? "<none>" : text;
    }
}
