package io.nodekeeper.apiserver.apply;

import io.nodekeeper.api.json.JsonArray;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.api.json.JsonValue;
import io.nodekeeper.api.schema.Schema;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Function;

/**
 * The differences between two objects.
 *
 * @param written the fields that were added or have another value
 * @param removed the fields that were removed
 */
public record FieldComparison(FieldSet written, FieldSet removed) {
    private static final FieldComparison SAME = new FieldComparison(FieldSet.EMPTY, FieldSet.EMPTY);
    private static final FieldComparison OTHER = new FieldComparison(FieldSet.HERE, FieldSet.EMPTY);

    /** Compares {@code after} with {@code before}. */
    public static FieldComparison of(JsonObject before, JsonObject after, Schema schema) {
        return of(before, after, Optional.of(schema));
    }

    private static FieldComparison of(JsonValue before, JsonValue after, Optional<Schema> schema) {
        if (before.equals(after)) {
            return SAME;
        }
        if (schema.isPresent() && schema.get().isAtomic()) {
            return OTHER;
        }
        if (before instanceof JsonObject old && after instanceof JsonObject next) {
            return children(
                    parts(old), parts(next), element -> schema.flatMap(known -> known.field(element.substring(2))));
        }
        if (before instanceof JsonArray old
                && after instanceof JsonArray next
                && schema.orElse(Schema.Scalar.ANY) instanceof Schema.ListOf list
                && list.isMerged()) {
            // The order of the items has no meaning in such a list.
            return children(parts(old, list), parts(next, list), element -> Optional.of(list.item()));
        }
        return OTHER;
    }

    private static FieldComparison children(
            Map<String, JsonValue> before, Map<String, JsonValue> after, Function<String, Optional<Schema>> schemaOf) {
        SortedMap<String, FieldSet> written = new TreeMap<>();
        SortedMap<String, FieldSet> removed = new TreeMap<>();
        for (var part : after.entrySet()) {
            String element = part.getKey();
            Optional<Schema> schema = schemaOf.apply(element);
            JsonValue old = before.get(element);
            FieldComparison inner = old == null
                    ? new FieldComparison(whole(element, part.getValue(), schema), FieldSet.EMPTY)
                    : of(old, part.getValue(), schema);
            written.put(element, inner.written);
            removed.put(element, inner.removed);
        }
        for (var part : before.entrySet()) {
            if (!after.containsKey(part.getKey())) {
                // Also removes the path itself, so that a manager that owned only this path owns nothing.
                FieldSet gone = FieldSet.of(part.getValue(), schemaOf.apply(part.getKey()))
                        .withSelf();
                removed.put(part.getKey(), gone);
            }
        }
        return new FieldComparison(FieldSet.above(written), FieldSet.above(removed));
    }

    private static FieldSet whole(String element, JsonValue value, Optional<Schema> schema) {
        FieldSet content = FieldSet.of(value, schema);
        return element.charAt(0) == 'f' ? content : content.withSelf();
    }

    private static Map<String, JsonValue> parts(JsonObject object) {
        Map<String, JsonValue> parts = new LinkedHashMap<>();
        object.fields().forEach((name, value) -> parts.put(PathElement.field(name), value));
        return parts;
    }

    private static Map<String, JsonValue> parts(JsonArray array, Schema.ListOf list) {
        Map<String, JsonValue> parts = new LinkedHashMap<>();
        for (JsonValue item : array.items()) {
            parts.put(PathElement.of(item, list), item);
        }
        return parts;
    }
}
