package io.nodekeeper.agent.config.file;

import io.nodekeeper.api.IpLiteral;
import java.net.InetAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Predicate;

/**
 * The fields of a configuration, read by their types. Each method reads one field once: it is empty if the field is not set, and
 * also if its value is wrong, which is then one more fault. Used by one thread.
 */
public final class ConfigFields {
    /** As deep as the fields that the agent knows, so that no file makes it recurse. */
    private static final int DEPTH = 3;

    private final Map<String, Object> fields;
    private final List<String> faults;

    /** The fields of an object by their names; adds what is wrong to {@code faults}. */
    public ConfigFields(Map<String, Object> fields, List<String> faults) {
        this.fields = new LinkedHashMap<>(fields);
        this.faults = faults;
    }

    /** A field of another type: {@code read} gives its value, or nothing if that is not {@code expected}. */
    public <T> Optional<T> take(String field, String expected, Function<Object, Optional<T>> read) {
        Object value = fields.remove(field);
        if (value == null) {
            return Optional.empty();
        }
        Optional<T> result = read.apply(value);
        if (result.isEmpty()) {
            fault(field + " must be " + expected + ", got " + value);
        }
        return result;
    }

    /** More than one field is wrong, or one is in a way that its type does not show. */
    public void fault(String text) {
        faults.add(text);
    }

    /** A boolean. */
    public Optional<Boolean> bool(String field) {
        return take(
                field, "true or false", value -> value instanceof Boolean bool ? Optional.of(bool) : Optional.empty());
    }

    /** A number without a fraction. */
    public Optional<Long> whole(String field) {
        return take(field, "a whole number", FieldType::number);
    }

    /** A number without a fraction, from {@code least} to {@code most}, which {@code expected} describes. */
    public Optional<Integer> whole(String field, String expected, int least, int most) {
        return take(
                field,
                expected,
                value -> FieldType.number(value)
                        .filter(number -> number >= least && number <= most)
                        .map(Long::intValue));
    }

    /** A text. */
    public Optional<String> text(String field) {
        return take(field, "a string", ConfigFields::text);
    }

    /** One of two texts. */
    public Optional<String> either(String field, String one, String other) {
        return take(field, one + " or " + other, value -> text(value).filter(Set.of(one, other)::contains));
    }

    /** A duration as Go writes it. */
    public Optional<Duration> duration(String field, String example) {
        return take(field, "a duration like " + example, FieldType::duration);
    }

    /** A duration as Go writes it, of those that {@code expected} describes. */
    public Optional<Duration> duration(String field, String expected, Predicate<Duration> valid) {
        return take(field, expected, value -> FieldType.duration(value).filter(valid));
    }

    /** A number of seconds of 0 or more. */
    public Optional<Duration> seconds(String field) {
        return take(
                field,
                "a number of seconds",
                value -> value instanceof Integer seconds && seconds >= 0
                        ? Optional.of(Duration.ofSeconds(seconds))
                        : Optional.empty());
    }

    /** An absolute path. */
    public Optional<Path> path(String field) {
        return take(
                field,
                "an absolute path",
                value -> text(value).filter(path -> path.startsWith("/")).map(Path::of));
    }

    /** An IP address. */
    public Optional<InetAddress> address(String field) {
        return take(field, "an IP address", ConfigFields::address);
    }

    /** A list of IP addresses. */
    public Optional<List<InetAddress>> addresses(String field) {
        return take(field, "a list of IP addresses", value -> all(value, ConfigFields::address));
    }

    /** A list of texts, which are {@code expected}. */
    public Optional<List<String>> texts(String field, String expected) {
        return take(field, expected, value -> all(value, item -> Optional.of(String.valueOf(item))));
    }

    /** A map of texts. */
    public Optional<Map<String, String>> textMap(String field) {
        return take(field, "a map of strings", value -> map(value, ConfigFields::text));
    }

    /** The fields inside of these objects, by their paths such as {@code authentication.webhook.cacheTTL}. */
    public ConfigFields inside(String... objects) {
        Map<String, Object> inner = new LinkedHashMap<>();
        for (String name : objects) {
            Optional<Map<?, ?>> object = take(
                    name, "an object", value -> value instanceof Map<?, ?> map ? Optional.of(map) : Optional.empty());
            object.ifPresent(map -> flatten(name, map, 1, inner));
        }
        return new ConfigFields(inner, faults);
    }

    private static void flatten(String path, Map<?, ?> map, int depth, Map<String, Object> values) {
        map.forEach((key, value) -> {
            String below = path + "." + key;
            if (value instanceof Map<?, ?> inner && depth < DEPTH) {
                flatten(below, inner, depth + 1, values);
            } else if (value != null) {
                values.put(below, value);
            }
        });
    }

    /** {@code value} as text, if it is one. */
    public static Optional<String> text(Object value) {
        return value instanceof String text ? Optional.of(text) : Optional.empty();
    }

    /** The items of the list {@code value}, if it is one and {@code read} can read all of them. */
    public static <T> Optional<List<T>> all(Object value, Function<Object, Optional<T>> read) {
        if (!(value instanceof List<?> list)) {
            return Optional.empty();
        }
        List<T> items = new ArrayList<>();
        for (Object item : list) {
            read.apply(item).ifPresent(items::add);
        }
        return items.size() == list.size() ? Optional.of(items) : Optional.empty();
    }

    /** The entries of the map {@code value}, if it is one with texts as keys and {@code read} can read all values. */
    public static <T> Optional<Map<String, T>> map(Object value, Function<Object, Optional<T>> read) {
        if (!(value instanceof Map<?, ?> map)) {
            return Optional.empty();
        }
        Map<String, T> entries = new LinkedHashMap<>();
        map.forEach((key, item) -> {
            if (key instanceof String name && item != null) {
                read.apply(item).ifPresent(entry -> entries.put(name, entry));
            }
        });
        return entries.size() == map.size() ? Optional.of(entries) : Optional.empty();
    }

    private static Optional<InetAddress> address(Object value) {
        return IpLiteral.of(String.valueOf(value));
    }
}
