package io.nodekeeper.controller;

import io.nodekeeper.api.KubeTime;
import java.time.temporal.ChronoField;

/** Reads {@code MicroTime}s, such as the {@code renewTime} of a lease, without making objects. */
final class MicroTimes {
    /** No time. */
    static final long NONE = Long.MIN_VALUE;

    /** As Kubernetes writes it; {@code 0} stands for a digit. */
    private static final String FORM = "0000-00-00T00:00:00.000000Z";

    private static final int[] DAYS_BEFORE_MONTH = {0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334};

    /** From the first day of the year 1. */
    private static final int DAYS_TO_1970 = 719_162;

    private MicroTimes() {}

    /** Microseconds since 1970; {@link #NONE} if {@code text} is no time that the API knows. */
    static long parse(String text) {
        if (!hasForm(text)) {
            return slowly(text);
        }
        int year = digits(text, 0, 4);
        int month = digits(text, 5, 7);
        int day = digits(text, 8, 10);
        int hour = digits(text, 11, 13);
        int minute = digits(text, 14, 16);
        int second = digits(text, 17, 19);
        if (year < 1 || month < 1 || month > 12 || day < 1 || day > 28 || hour > 23 || minute > 59 || second > 59) {
            // Whether a month has a 29th is left to the library.
            return slowly(text);
        }
        int leaps = month > 2 ? year : year - 1;
        long days = 365L * (year - 1)
                + leaps / 4
                - leaps / 100
                + leaps / 400
                + DAYS_BEFORE_MONTH[month - 1]
                + day
                - 1
                - DAYS_TO_1970;
        long seconds = ((days * 24 + hour) * 60 + minute) * 60 + second;
        return seconds * 1_000_000 + digits(text, 20, 26);
    }

    private static long slowly(String text) {
        return KubeTime.parse(text)
                .map(time -> time.getEpochSecond() * 1_000_000 + time.get(ChronoField.MICRO_OF_SECOND))
                .orElse(NONE);
    }

    private static boolean hasForm(String text) {
        if (text.length() != FORM.length()) {
            return false;
        }
        for (int i = 0; i < FORM.length(); i++) {
            char expected = FORM.charAt(i);
            char found = text.charAt(i);
            if (expected == '0' ? found < '0' || found > '9' : found != expected) {
                return false;
            }
        }
        return true;
    }

    private static int digits(String text, int from, int to) {
        int value = 0;
        for (int i = from; i < to; i++) {
            value = value * 10 + text.charAt(i) - '0';
        }
        return value;
    }
}
