package io.nodekeeper.time;

import java.math.BigDecimal;
import java.math.RoundingMode;
import java.time.Duration;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Parses and formats durations as Go and all Kubernetes flags, messages and files do: {@code 40s}, {@code 1m30s},
 * {@code 4m1.0541s}.
 */
public final class GoDuration {
    private static final Pattern TERM = Pattern.compile("(\\d+(?:\\.\\d*)?|\\.\\d+)(ns|us|µs|μs|ms|s|m|h)");
    private static final long SECOND = 1_000_000_000L;

    private GoDuration() {}

    /**
     * Parses a duration.
     *
     * @throws IllegalArgumentException naming the text and the expected form, also when it exceeds 64 bits of nanoseconds
     */
    public static Duration parse(String text) {
        String body = text.startsWith("-") || text.startsWith("+") ? text.substring(1) : text;
        if (body.equals("0")) {
            return Duration.ZERO;
        }
        BigDecimal nanos = BigDecimal.ZERO;
        Matcher term = TERM.matcher(body);
        int end = 0;
        while (term.lookingAt()) {
            nanos = nanos.add(new BigDecimal(term.group(1)).multiply(BigDecimal.valueOf(unitNanos(term.group(2)))));
            end = term.end();
            term.region(end, body.length());
        }
        if (body.isEmpty() || end != body.length() || nanos.compareTo(BigDecimal.valueOf(Long.MAX_VALUE)) > 0) {
            throw new IllegalArgumentException(
                    "\"" + text + "\" is not a duration; expected a form like 300ms, 40s, 1m30s or 2h");
        }
        long value = nanos.setScale(0, RoundingMode.DOWN).longValueExact();
        return Duration.ofNanos(text.startsWith("-") ? -value : value);
    }

    /**
     * Formats a duration: omits units above the largest non-zero one and trailing zeros of the fraction. It may be longer
     * than 64 bits of nanoseconds, as between two times of the API.
     */
    public static String format(Duration duration) {
        if (duration.isZero()) {
            return "0s";
        }
        if (duration.isNegative()) {
            return "-" + format(duration.negated());
        }
        long all = duration.toSeconds();
        long nanos = duration.getNano();
        if (all == 0 && nanos < 1_000) {
            return nanos + "ns";
        }
        if (all == 0 && nanos < 1_000_000) {
            return decimal(nanos, 1_000) + "µs";
        }
        if (all == 0) {
            return decimal(nanos, 1_000_000) + "ms";
        }
        long hours = all / 3_600;
        long minutes = all / 60 % 60;
        String seconds = decimal(all % 60 * SECOND + nanos, SECOND) + "s";
        if (hours > 0) {
            return hours + "h" + minutes + "m" + seconds;
        }
        return minutes > 0 ? minutes + "m" + seconds : seconds;
    }

    private static String decimal(long value, long unit) {
        return BigDecimal.valueOf(value)
                .divide(BigDecimal.valueOf(unit), 9, RoundingMode.DOWN)
                .stripTrailingZeros()
                .toPlainString();
    }

    private static long unitNanos(String unit) {
        return switch (unit) {
            case "ns" -> 1;
            case "ms" -> 1_000_000;
            case "s" -> SECOND;
            case "m" -> 60 * SECOND;
            case "h" -> 3_600 * SECOND;
            default -> 1_000;
        };
    }
}
