package io.nodekeeper.api;

import io.nodekeeper.api.json.JsonNumber;
import io.nodekeeper.api.json.JsonString;
import io.nodekeeper.api.json.JsonValue;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.RoundingMode;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * An amount of a resource, such as {@code 100m}, {@code 4} or {@code 16Gi}. Two quantities are equal if their values
 * are; the format only decides how one is written. Kubernetes' limits hold: nothing finer than 10⁻⁹ (rounded away from
 * zero), nothing beyond ±(2⁶³−1) when read. Immutable.
 */
public final class Quantity implements Comparable<Quantity> {
    /** How a quantity is written. */
    public enum Format {
        /** Powers of 1024: {@code Ki}, {@code Mi}, …; fractions and amounts below 1024 are written as {@link #DECIMAL_SI}. */
        BINARY_SI,
        /** Powers of 1000: {@code m}, none, {@code k}, {@code M}, …. */
        DECIMAL_SI,
        /** A power of ten: {@code e3}, {@code e6}, …. */
        DECIMAL_EXPONENT
    }

    /** Zero, in decimal format. */
    public static final Quantity ZERO = new Quantity(BigDecimal.ZERO, Format.DECIMAL_SI);

    private static final Pattern FORM = Pattern.compile(
            "([+-]?(?:\\d{1,100}(?:\\.\\d{0,100})?|\\.\\d{1,100}))([KMGTPE]i|[numkMGTPE]|[eE][+-]?\\d{1,3})?");
    private static final String[] DECIMAL = {"n", "u", "m", "", "k", "M", "G", "T", "P", "E"};
    private static final String[] BINARY = {"", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"};
    private static final BigDecimal MAX = BigDecimal.valueOf(Long.MAX_VALUE);
    private static final BigInteger KIBI = BigInteger.valueOf(1_024);

    private final BigDecimal value;
    private final Format format;

    private Quantity(BigDecimal value, Format format) {
        this.value = value;
        this.format = format;
    }

    /** A whole amount in decimal format. */
    public static Quantity of(long amount) {
        return of(amount, Format.DECIMAL_SI);
    }

    /** A whole amount. */
    public static Quantity of(long amount, Format format) {
        return new Quantity(BigDecimal.valueOf(amount), format);
    }

    /** Thousandths, in decimal format: how CPU is counted. */
    public static Quantity ofMillis(long millis) {
        return new Quantity(BigDecimal.valueOf(millis, 3), Format.DECIMAL_SI);
    }

    /** Bytes, in binary format: how memory is counted. */
    public static Quantity ofBytes(long bytes) {
        return of(bytes, Format.BINARY_SI);
    }

    /**
     * Reads a quantity.
     *
     * @throws IllegalArgumentException naming the text and the expected form
     */
    public static Quantity parse(String text) {
        Matcher form = FORM.matcher(text);
        if (!form.matches()) {
            throw new IllegalArgumentException("\"" + text
                    + "\" is not a quantity; expected a number with an optional suffix, like 100m, 4, 16Gi or 1e3");
        }
        BigDecimal number = new BigDecimal(form.group(1));
        String suffix = form.group(2) == null ? "" : form.group(2);
        if (suffix.length() == 2 && suffix.charAt(1) == 'i') {
            int power = "KMGTPE".indexOf(suffix.charAt(0)) + 1;
            return read(number.multiply(new BigDecimal(KIBI.pow(power))), Format.BINARY_SI);
        }
        if (suffix.length() > 1) {
            return read(number.scaleByPowerOfTen(Integer.parseInt(suffix.substring(1))), Format.DECIMAL_EXPONENT);
        }
        int power = 0;
        for (int i = 0; i < DECIMAL.length; i++) {
            if (DECIMAL[i].equals(suffix)) {
                power = 3 * i - 9;
            }
        }
        return read(number.scaleByPowerOfTen(power), Format.DECIMAL_SI);
    }

    /** Reads a quantity from JSON, where it is a string or a number; empty if it is neither, or malformed. */
    public static Optional<Quantity> from(JsonValue json) {
        String text = json instanceof JsonString string
                ? string.value()
                : json instanceof JsonNumber number ? number.literal() : "";
        return FORM.matcher(text).matches() ? Optional.of(parse(text)) : Optional.empty();
    }

    /** The sum, in this one's format; in the other's if this is zero. */
    public Quantity plus(Quantity other) {
        return new Quantity(value.add(other.value), isZero() ? other.format : format);
    }

    /** The difference, in this one's format; in the other's if this is zero. */
    public Quantity minus(Quantity other) {
        return new Quantity(value.subtract(other.value), isZero() ? other.format : format);
    }

    /** This quantity, or zero in its format if it is negative. */
    public Quantity atLeastZero() {
        return isNegative() ? new Quantity(BigDecimal.ZERO, format) : this;
    }

    /** Whether it is zero. */
    public boolean isZero() {
        return value.signum() == 0;
    }

    /** Whether it is below zero. */
    public boolean isNegative() {
        return value.signum() < 0;
    }

    /** The exact amount. */
    public BigDecimal value() {
        return value;
    }

    /** The amount as a whole number, rounded up, within 64 bits. */
    public long toLong() {
        return whole(value);
    }

    /** The amount in thousandths, rounded up, within 64 bits. */
    public long toMillis() {
        return whole(value.scaleByPowerOfTen(3));
    }

    /** How it is written. */
    public Format format() {
        return format;
    }

    /** The amount as JSON: its canonical text. */
    public JsonString toJson() {
        return new JsonString(toString());
    }

    @Override
    public int compareTo(Quantity other) {
        return value.compareTo(other.value);
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Quantity quantity && value.compareTo(quantity.value) == 0;
    }

    @Override
    public int hashCode() {
        return value.stripTrailingZeros().hashCode();
    }

    /** The canonical form: a whole mantissa with the largest suffix that is exact. */
    @Override
    public String toString() {
        if (isZero()) {
            return "0";
        }
        BigDecimal plain = value.stripTrailingZeros();
        if (format == Format.BINARY_SI && plain.scale() <= 0 && plain.abs().compareTo(new BigDecimal(KIBI)) >= 0) {
            return binary(plain.toBigIntegerExact());
        }
        return decimal(plain);
    }

    private String decimal(BigDecimal plain) {
        int power = Math.floorDiv(-plain.scale(), 3) * 3;
        if (format != Format.DECIMAL_EXPONENT) {
            power = Math.min(power, 18);
        }
        String mantissa = plain.scaleByPowerOfTen(-power).toBigIntegerExact().toString();
        if (format == Format.DECIMAL_EXPONENT) {
            return power == 0 ? mantissa : mantissa + "e" + power;
        }
        return mantissa + DECIMAL[power / 3 + 3];
    }

    private static String binary(BigInteger whole) {
        int power = 0;
        BigInteger mantissa = whole;
        while (power < BINARY.length - 1) {
            BigInteger[] parts = mantissa.divideAndRemainder(KIBI);
            if (parts[1].signum() != 0) {
                break;
            }
            mantissa = parts[0];
            power++;
        }
        return mantissa + BINARY[power];
    }

    private static Quantity read(BigDecimal exact, Format format) {
        BigDecimal limited = exact.min(MAX).max(MAX.negate());
        return new Quantity(limited.scale() > 9 ? limited.setScale(9, RoundingMode.UP) : limited, format);
    }

    private static long whole(BigDecimal exact) {
        BigDecimal rounded = exact.setScale(0, RoundingMode.UP);
        return rounded.min(MAX).max(MAX.negate()).longValueExact();
    }
}
