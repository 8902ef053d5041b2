package io.nodekeeper.client.scan;

/** Parses times in Kubernetes' form directly from bytes. */
final class MicroTimes {
    /** The result for text in any other form. */
    static final long MALFORMED = Long.MIN_VALUE;

    private static final int FRACTION_AT = 19;
    private static final int MOST_FRACTION = 6;

    private MicroTimes() {}

    /**
     * Microseconds since 1970 of {@code 2026-01-31T23:59:59.000000Z}, with no fraction or one of up to six digits, in
     * UTC; {@link #MALFORMED} for all else, years before 1 included.
     */
    static long parse(byte[] b, int from, int to) {
        if (to - from <= FRACTION_AT || b[to - 1] != 'Z' || !isPunctuated(b, from)) {
            return MALFORMED;
        }
        int year = number(b, from, 4);
        int month = number(b, from + 5, 2);
        int day = number(b, from + 8, 2);
        int hour = number(b, from + 11, 2);
        int minute = number(b, from + 14, 2);
        int second = number(b, from + 17, 2);
        int micros = fraction(b, from + FRACTION_AT, to - 1);
        if (year < 1 || month < 1 || month > 12 || day < 1 || day > daysOf(year, month)) {
            return MALFORMED;
        }
        if (hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 59 || micros < 0) {
            return MALFORMED;
        }
        long seconds = daysSince1970(year, month, day) * 86_400 + hour * 3_600L + minute * 60L + second;
        return seconds * 1_000_000 + micros;
    }

    private static boolean isPunctuated(byte[] b, int from) {
        return b[from + 4] == '-'
                && b[from + 7] == '-'
                && b[from + 10] == 'T'
                && b[from + 13] == ':'
                && b[from + 16] == ':';
    }

    /** −1 if not all are digits. */
    private static int number(byte[] b, int from, int length) {
        int value = 0;
        for (int i = from; i < from + length; i++) {
            int digit = b[i] - '0';
            if (digit < 0 || digit > 9) {
                return -1;
            }
            value = value * 10 + digit;
        }
        return value;
    }

    private static int fraction(byte[] b, int from, int to) {
        if (from == to) {
            return 0;
        }
        int digits = to - from - 1;
        if (b[from] != '.' || digits < 1 || digits > MOST_FRACTION) {
            return -1;
        }
        int value = number(b, from + 1, digits);
        for (int i = digits; i < MOST_FRACTION; i++) {
            value *= 10;
        }
        return value;
    }

    private static int daysOf(int year, int month) {
        return switch (month) {
            case 2 -> isLeap(year) ? 29 : 28;
            case 4, 6, 9, 11 -> 30;
            default -> 31;
        };
    }

    private static boolean isLeap(int year) {
        return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    }

    /** Counts years from March, so that the leap day is the last one of its year: then months have a regular length. */
    private static long daysSince1970(int year, int month, int day) {
        int y = month > 2 ? year : year - 1;
        int monthFromMarch = (month + 9) % 12;
        int dayOfYear = (153 * monthFromMarch + 2) / 5 + day - 1;
        return 365L * y + y / 4 - y / 100 + y / 400 + dayOfYear - 719_468;
    }
}
