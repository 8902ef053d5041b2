package io.nodekeeper.cli.why;

import io.nodekeeper.api.KubeTime;
import io.nodekeeper.time.GoDuration;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Locale;

/** Formats times with their distance from {@code now}. */
record Times(Instant now) {
    private static final DateTimeFormatter EXACT =
            DateTimeFormatter.ofPattern("yyyy-MM-dd HH:mm:ss.SSS", Locale.ROOT).withZone(ZoneOffset.UTC);
    private static final DateTimeFormatter CLOCK =
            DateTimeFormatter.ofPattern("HH:mm:ss", Locale.ROOT).withZone(ZoneOffset.UTC);
    private static final DateTimeFormatter DAY =
            DateTimeFormatter.ofPattern("yyyy-MM-dd HH:mm:ss", Locale.ROOT).withZone(ZoneOffset.UTC);

    /** {@code 2026-11-21 16:13:36.967}. */
    static String exact(Instant time) {
        return EXACT.format(time);
    }

    /** {@code 2026-11-21 16:13:36.967 (15.343s ago)}. */
    String full(Instant time) {
        return exact(time) + " (" + distance(time) + ")";
    }

    /** {@code 16:13:36 (15s ago)}, with the day if that is another one. */
    String brief(Instant time) {
        boolean today = time.atOffset(ZoneOffset.UTC)
                .toLocalDate()
                .equals(now.atOffset(ZoneOffset.UTC).toLocalDate());
        Duration distance = Duration.between(time, now);
        String age = GoDuration.format(Duration.ofSeconds(distance.abs().toSeconds()));
        return (today ? CLOCK : DAY).format(time) + " UTC (" + (distance.isNegative() ? "in " + age : age + " ago")
                + ")";
    }

    /** The same for a time as in the API, which stays as it is if it cannot be read. */
    String brief(String time) {
        return KubeTime.parse(time).map(this::brief).orElse(time);
    }

    private String distance(Instant time) {
        Duration distance = Duration.between(time, now);
        Duration rounded = distance.abs().compareTo(Duration.ofMinutes(1)) < 0
                ? Duration.ofMillis(distance.abs().toMillis())
                : Duration.ofSeconds(distance.abs().toSeconds());
        String age = GoDuration.format(rounded);
        return distance.isNegative() ? "in " + age : age + " ago";
    }
}
