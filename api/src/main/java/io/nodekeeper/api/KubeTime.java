package io.nodekeeper.api;

import java.time.DateTimeException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.time.temporal.ChronoUnit;
import java.util.Locale;
import java.util.Optional;

/**
 * Time as the API writes it: RFC 3339 in UTC, whole seconds for {@code Time}, exactly six fraction digits for
 * {@code MicroTime}. Input is taken with any offset and any fraction.
 */
public final class KubeTime {
    private static final DateTimeFormatter MICRO = DateTimeFormatter.ofPattern(
                    "yyyy-MM-dd'T'HH:mm:ss.SSSSSS'Z'", Locale.ROOT)
            .withZone(ZoneOffset.UTC);

    /** What can be written with a year of four digits: an offset may reach beyond. */
    private static final Instant FIRST = Instant.parse("0001-01-01T00:00:00Z");

    private static final Instant LAST = Instant.parse("9999-12-31T23:59:59.999999999Z");

    private KubeTime() {}

    /** Writes a {@code Time}; fractions of a second are dropped. */
    public static String format(Instant time) {
        return DateTimeFormatter.ISO_INSTANT.format(time.truncatedTo(ChronoUnit.SECONDS));
    }

    /** Writes a {@code MicroTime}. */
    public static String formatMicro(Instant time) {
        return MICRO.format(time);
    }

    /** Reads either form; empty if {@code text} is no RFC 3339 time. */
    public static Optional<Instant> parse(String text) {
        // RFC 3339 demands four digits of the year, seconds and an offset, which is more than ISO_OFFSET_DATE_TIME
        // does.
        if (text.length() < 20 || text.charAt(4) != '-' || text.charAt(16) != ':') {
            return Optional.empty();
        }
        try {
            Instant time = OffsetDateTime.parse(text).toInstant();
            return time.isBefore(FIRST) || time.isAfter(LAST) ? Optional.empty() : Optional.of(time);
        } catch (DateTimeException e) {
            return Optional.empty();
        }
    }
}
