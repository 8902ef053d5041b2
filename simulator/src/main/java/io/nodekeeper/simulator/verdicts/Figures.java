package io.nodekeeper.simulator.verdicts;

import io.nodekeeper.api.json.JsonNumber;
import io.nodekeeper.time.GoDuration;
import java.time.Duration;
import java.util.List;
import java.util.Locale;

/** How reports show durations. */
public final class Figures {
    private Figures() {}

    /** Seconds with microseconds, for JSON. */
    public static JsonNumber seconds(Duration duration) {
        return new JsonNumber(String.format(Locale.ROOT, "%.6f", duration.toNanos() / 1e9));
    }

    /** A Go duration of whole milliseconds, for people. */
    public static String millis(Duration duration) {
        return GoDuration.format(Duration.ofMillis(duration.toMillis()));
    }

    /** The smallest one that is at least as long as {@code percent} of all, 1 to 100; zero if there are none. */
    public static Duration percentile(List<Duration> sorted, int percent) {
        return sorted.isEmpty() ? Duration.ZERO : sorted.get((int) Math.ceil(percent * sorted.size() / 100.0) - 1);
    }
}
