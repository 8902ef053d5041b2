package io.nodekeeper.agent.config.file;

import io.nodekeeper.api.Quantity;
import io.nodekeeper.time.GoDuration;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Predicate;

/**
 * What values a field takes. Immutable.
 *
 * @param name for the documentation
 * @param expected for messages, as in "must be a whole number"
 * @param fits whether a value of the YAML document is one
 * @param unset whether a value counts as not set, because Kubernetes replaces it by the default
 */
public record FieldType(String name, String expected, Predicate<Object> fits, Predicate<Object> unset) {
    static final FieldType BOOL =
            new FieldType("boolean", "true or false", value -> value instanceof Boolean, value -> false);
    static final FieldType TEXT =
            new FieldType("string", "a string", value -> value instanceof String, value -> value.equals(""));
    static final FieldType WHOLE = whole(Long.MIN_VALUE, Long.MAX_VALUE);
    static final FieldType DURATION = new FieldType(
            "duration",
            "a duration like 1m30s",
            value -> duration(value).isPresent(),
            value -> duration(value).filter(Duration::isZero).isPresent());
    static final FieldType TEXTS = new FieldType(
            "list of strings",
            "a list of strings",
            value -> value instanceof List<?> list && list.stream().allMatch(String.class::isInstance),
            value -> value.equals(List.of()));
    static final FieldType TEXT_MAP = new FieldType(
            "map of strings",
            "a map of strings",
            value -> value instanceof Map<?, ?> map && map.values().stream().allMatch(String.class::isInstance),
            value -> value.equals(Map.of()));
    static final FieldType OBJECTS = new FieldType(
            "list of objects",
            "a list of objects",
            value -> value instanceof List<?> list && list.stream().allMatch(Map.class::isInstance),
            value -> value.equals(List.of()));
    static final FieldType BOOL_MAP = new FieldType(
            "map of booleans",
            "a map of true and false",
            value -> value instanceof Map<?, ?> map && map.values().stream().allMatch(Boolean.class::isInstance),
            value -> value.equals(Map.of()));
    static final FieldType LIST_MAP = new FieldType(
            "map of lists",
            "a map of lists of strings",
            value -> value instanceof Map,
            value -> value.equals(Map.of()));
    static final FieldType QUANTITY =
            new FieldType("quantity", "a quantity like 10Mi", FieldType::isQuantity, value -> false);
    /** A duration, which Kubernetes' logging also takes in nanoseconds. */
    static final FieldType DURATION_OR_NANOSECONDS = new FieldType(
            "duration",
            "a duration like 5s, or a number of nanoseconds",
            value -> WHOLE.fits().test(value) || DURATION.fits().test(value),
            value -> false);

    /** A whole number; 0 counts as not set. */
    static FieldType whole(long least, long most) {
        return new FieldType(
                "whole number",
                "a whole number" + range(least, most),
                value -> number(value)
                        .filter(number -> number >= least && number <= most)
                        .isPresent(),
                value -> number(value).filter(number -> number == 0).isPresent());
    }

    private static String range(long least, long most) {
        if (least == Long.MIN_VALUE) {
            return "";
        }
        return most == Long.MAX_VALUE ? " of " + least + " or more" : " from " + least + " to " + most;
    }

    /** A number greater than 0, at most 1. */
    static FieldType share() {
        return new FieldType(
                "number",
                "a number greater than 0 and at most 1",
                value -> value instanceof Number number && number.doubleValue() > 0 && number.doubleValue() <= 1,
                value -> false);
    }

    /** One of a few texts. */
    static FieldType oneOf(String... texts) {
        List<String> all = List.of(texts);
        return new FieldType(
                "string",
                "one of " + String.join(", ", all),
                value -> TEXT.unset.test(value) || isIn(all, value),
                TEXT.unset);
    }

    private static boolean isIn(List<String> texts, Object value) {
        return value instanceof String text && texts.contains(text);
    }

    /** The same, where the zero value is a value as others: a pointer in Kubernetes' type. */
    FieldType zeroCounts() {
        return new FieldType(name, expected, fits, value -> false);
    }

    /** Whether {@code value}, which fits, means the same as {@code text}. */
    boolean means(Object value, String text) {
        Optional<Duration> duration = duration(value);
        return duration.isPresent() && !text.isEmpty()
                ? duration.equals(duration(text))
                : String.valueOf(value).equals(text);
    }

    private static boolean isQuantity(Object value) {
        try {
            Quantity.parse(String.valueOf(value));
            return true;
        } catch (IllegalArgumentException e) {
            return false;
        }
    }

    static Optional<Long> number(Object value) {
        return value instanceof Integer || value instanceof Long
                ? Optional.of(((Number) value).longValue())
                : Optional.empty();
    }

    static Optional<Duration> duration(Object value) {
        try {
            return value instanceof String text ? Optional.of(GoDuration.parse(text)) : Optional.empty();
        } catch (IllegalArgumentException e) {
            return Optional.empty();
        }
    }
}
