package io.nodekeeper.api;

import java.time.DateTimeException;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.time.temporal.ChronoUnit;
import java.util.Locale;
import java.util.Optional;

/**
 * Formats and parses times of the API: RFC 3339 in UTC, whole seconds for {@code Time}, exactly six fraction digits for
 * {@code MicroTime}. Accepts input with any offset and any fraction.
 */
public final class KubeTime {
    private static final DateTimeFormatter MICRO = DateTimeFormatter.ofPattern(
                    "yyyy-MM-dd'T'HH:mm:ss.SSSSSS'Z'", Locale.ROOT)
            .withZone(ZoneOffset.UTC);

    /** The range of years with four digits; a time with an offset may be outside. */
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

    /** Parses either form; empty if {@code text} is not an RFC 3339 time. */
    public static Optional<Instant> parse(String text) {
        // RFC 3339 requires a year of four digits, seconds and an offset, which ISO_OFFSET_DATE_TIME does not.
        if (text.length() < 20 || text.charAt(4) != '-' || text.charAt(16) != ':') {
            return Optional.empty();
        }
        try {
            Instant time =
                    isPlain(text) ? plain(text) : OffsetDateTime.parse(text).toInstant();
            return time.isBefore(FIRST) || time.isAfter(LAST) ? Optional.empty() : Optional.of(time);
        } catch (DateTimeException e) {
            return Optional.empty();
        }
    }

    /** Whether {@code text}, which is a time, has exactly the form of {@link #format}. */
    public static boolean isFormatted(String text) {
        return text.length() == 20 && isPlain(text);
    }

    /** As {@link #isFormatted} for {@link #formatMicro}. */
    public static boolean isFormattedMicro(String text) {
        return text.length() == 27 && isPlain(text);
    }

    /** A time that the API can hold as microseconds since 1970, the precision of its {@code MicroTime}. */
    public static long micros(Instant time) {
        return time.getEpochSecond() * 1_000_000 + time.getNano() / 1_000;
    }

    /** Whether this is the form that the API writes, as nearly all times are. */
    private static boolean isPlain(String text) {
        int length = text.length();
        boolean micro = length == 27 && text.charAt(19) == '.';
        if ((length != 20 && !micro)
                || text.charAt(length - 1) != 'Z'
                || text.charAt(7) != '-'
                || text.charAt(10) != 'T'
                || text.charAt(13) != ':') {
            return false;
        }
        for (int i = 0; i < length - 1; i++) {
            boolean separator = i == 4 || i == 7 || i == 10 || i == 13 || i == 16 || i == 19;
            if (!separator && (text.charAt(i) < '0' || text.charAt(i) > '9')) {
                return false;
            }
        }
        return true;
    }

    /**
     * Parses that form, many times faster than the general parser; times of leases are parsed several times per write.
     */
    private static Instant plain(String text) {
        int nanos = text.length() == 20 ? 0 : number(text, 20, 26) * 1_000;
        return LocalDateTime.of(
                        number(text, 0, 4),
                        number(text, 5, 7),
                        number(text, 8, 10),
                        number(text, 11, 13),
                        number(text, 14, 16),
                        number(text, 17, 19),
                        nanos)
                .toInstant(ZoneOffset.UTC);
    }

    private static int number(String text, int from, int to) {
        return Integer.parseInt(text, from, to, 10);
    }
}
