package io.nodekeeper.api.json;

import java.math.BigDecimal;

/**
 * A JSON number, kept in its original notation so that no precision is lost.
 *
 * @param literal a number in JSON's notation
 */
public record JsonNumber(String literal) implements JsonValue {

    /** The number {@code value}. */
    public static JsonNumber of(long value) {
        return new JsonNumber(Long.toString(value));
    }

    /** Whether the literal is a whole number of 64 bits. */
    public boolean isLong() {
        int digits = literal.length();
        if (digits < 19) {
            for (int i = literal.charAt(0) == '-' ? 1 : 0; i < digits; i++) {
                if (literal.charAt(i) < '0' || literal.charAt(i) > '9') {
                    return false;
                }
            }
            return true;
        }
        try {
            Long.parseLong(literal);
            return true;
        } catch (NumberFormatException e) {
            return false;
        }
    }

    /**
     * The value as a whole number.
     *
     * @throws NumberFormatException if {@link #isLong} is false
     */
    public long longValue() {
        return Long.parseLong(literal);
    }

    /** The exact value. */
    public BigDecimal decimal() {
        return new BigDecimal(literal);
    }

    @Override
    public String kind() {
        return "number";
    }

    @Override
    public String toString() {
        return literal;
    }
}
