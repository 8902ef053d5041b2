package io.nodekeeper.api;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * Kubernetes' strategic merge patch: as a JSON merge patch, but lists whose schema names a merge key are merged item by
 * item, and directives steer the rest.
 *
 * <ul>
 *   <li>{@code {"$patch": "replace"}} in an object replaces it by the other fields; as an item of a keyed list it replaces
 *       the list by the other items; {@code {"$patch": "delete", KEY: …}} removes an item, or, in an object, all its fields;
 *   <li>{@code $setElementOrder/LIST} orders a merged list;
 *   <li>{@code $deleteFromPrimitiveList/LIST} removes plain values;
 *   <li>{@code $retainKeys} keeps only the named fields of its object.
 * </ul>
 *
 * Directives never end up in the result.
 */
public final class StrategicMergePatch {
    private static final String PATCH = "$patch";
    private static final String RETAIN_KEYS = "$retainKeys";
    private static final String DELETE_FROM = "$deleteFromPrimitiveList/";
    private static final String ORDER = "$setElementOrder/";

    private StrategicMergePatch() {}

    /**
     * {@code target} changed by {@code patch}.
     *
     * @throws ApiException if an item of a keyed list lacks its key, or a directive is unknown or of the wrong type
     */
    public static JsonObject apply(JsonObject target, JsonObject patch, Schema schema) {
        return merge(target, patch, Optional.of(schema));
    }

    private static JsonObject merge(JsonObject target, JsonObject patch, Optional<Schema> schema) {
        JsonObject base = target;
        if (patch.has(PATCH)) {
            switch (patch.text(PATCH)) {
                case "replace", "delete" -> base = JsonObject.EMPTY;
                case "merge" -> {}
                default -> throw unknownDirective(patch);
            }
            if (patch.text(PATCH).equals("delete")) {
                return JsonObject.EMPTY;
            }
        }
        JsonObject start = base;
        JsonObject.Builder result = start.toBuilder();
        for (var change : patch.fields().entrySet()) {
            String name = change.getKey();
            JsonValue value = change.getValue();
            if (name.equals(PATCH) || name.equals(RETAIN_KEYS)) {
                continue;
            }
            if (name.startsWith(DELETE_FROM)) {
                String list = name.substring(DELETE_FROM.length());
                JsonArray now = result.build().array(list);
                Set<JsonValue> gone = new HashSet<>(arrayOf(name, value).items());
                if (!now.isEmpty()) {
                    result.put(list, filtered(now, gone));
                }
                continue;
            }
            if (name.startsWith(ORDER)) {
                continue;
            }
            if (value == JsonNull.NULL) {
                result.remove(name);
                continue;
            }
            Optional<Schema> child = schema.flatMap(known -> known.field(name));
            Optional<JsonValue> before = start.get(name);
            result.put(
                    name,
                    switch (value) {
                        case JsonObject object ->
                            merge(before.orElse(JsonNull.NULL) instanceof JsonObject b ? b : JsonObject.EMPTY, object, child);
                        case JsonArray array ->
                            mergeList(before.orElse(JsonNull.NULL) instanceof JsonArray b ? b : JsonArray.EMPTY, array, child);
                        default -> value;
                    });
        }
        for (var change : patch.fields().entrySet()) {
            if (change.getKey().startsWith(ORDER)) {
                String list = change.getKey().substring(ORDER.length());
                String key = schema.flatMap(known -> known.field(list)).orElse(Schema.Scalar.ANY)
                                instanceof Schema.ListOf listOf
                        ? listOf.mergeKey()
                        : "";
                JsonArray now = result.build().array(list);
                if (!now.isEmpty()) {
                    result.put(list, ordered(now, arrayOf(change.getKey(), change.getValue()), key));
                }
            }
        }
        return patch.has(RETAIN_KEYS) ? retained(result.build(), arrayOf(RETAIN_KEYS, patch.get(RETAIN_KEYS).get())) : result.build();
    }

    private static JsonArray mergeList(JsonArray target, JsonArray patch, Optional<Schema> schema) {
        if (!(schema.orElse(Schema.Scalar.ANY) instanceof Schema.ListOf list)) {
            return stripped(patch, Optional.empty());
        }
        if (list.set()) {
            LinkedHashSet<JsonValue> union = new LinkedHashSet<>(patch.items());
            union.addAll(target.items());
            return new JsonArray(List.copyOf(union));
        }
        if (list.mergeKey().isEmpty()) {
            return stripped(patch, Optional.of(list.item()));
        }
        return mergeKeyed(target, patch, list);
    }

    private static JsonArray mergeKeyed(JsonArray target, JsonArray patch, Schema.ListOf list) {
        String key = list.mergeKey();
        boolean replace = patch.objects()
                .anyMatch(item -> item.text(PATCH).equals("replace") && !item.has(key));
        List<JsonValue> result = new ArrayList<>(replace ? List.of() : target.items());
        for (JsonValue value : patch.items()) {
            if (!(value instanceof JsonObject item)) {
                throw new ApiException(
                        422, "Invalid", "an item of a list that is merged by " + key + " must be an object, got "
                                + value.kind());
            }
            if (!item.has(key)) {
                if (item.text(PATCH).equals("replace")) {
                    continue;
                }
                throw new ApiException(500, "", "map: " + Json.write(item) + " does not contain declared merge key: " + key);
            }
            int at = replace ? -1 : indexOf(result, key, item.get(key).get());
            if (item.text(PATCH).equals("delete")) {
                if (at >= 0) {
                    result.remove(at);
                }
            } else if (at >= 0) {
                result.set(at, merge((JsonObject) result.get(at), item, Optional.of(list.item())));
            } else {
                result.add(merge(JsonObject.EMPTY, item, Optional.of(list.item())));
            }
        }
        return new JsonArray(result);
    }

    private static int indexOf(List<JsonValue> items, String key, JsonValue value) {
        for (int i = 0; i < items.size(); i++) {
            if (items.get(i) instanceof JsonObject item && item.get(key).equals(Optional.of(value))) {
                return i;
            }
        }
        return -1;
    }

    /** A list that replaces another: its items without directives. */
    private static JsonArray stripped(JsonArray items, Optional<Schema> schema) {
        return new JsonArray(items.items().stream()
                .map(item -> item instanceof JsonObject object
                        ? merge(JsonObject.EMPTY, object.without(PATCH), schema)
                        : item)
                .toList());
    }

    /** The named items first, in the given order; the others keep their places behind the item that they followed. */
    private static JsonArray ordered(JsonArray items, JsonArray order, String key) {
        List<JsonValue> wanted = new ArrayList<>();
        for (JsonValue place : order.items()) {
            for (JsonValue item : items.items()) {
                if (sameItem(item, place, key)) {
                    wanted.add(item);
                }
            }
        }
        List<JsonValue> result = new ArrayList<>(wanted);
        int after = 0;
        for (JsonValue item : items.items()) {
            int at = result.indexOf(item);
            if (wanted.contains(item)) {
                after = at + 1;
            } else {
                result.add(after++, item);
            }
        }
        return new JsonArray(result);
    }

    private static boolean sameItem(JsonValue item, JsonValue place, String key) {
        if (key.isEmpty()) {
            return item.equals(place);
        }
        return item instanceof JsonObject a
                && place instanceof JsonObject b
                && b.has(key)
                && a.get(key).equals(b.get(key));
    }

    private static JsonArray filtered(JsonArray items, Set<JsonValue> gone) {
        return new JsonArray(
                items.items().stream().filter(item -> !gone.contains(item)).toList());
    }

    private static JsonObject retained(JsonObject object, JsonArray keys) {
        Set<String> keep = new HashSet<>(keys.strings().toList());
        JsonObject.Builder result = object.toBuilder();
        object.fields().keySet().stream().filter(name -> !keep.contains(name)).forEach(result::remove);
        return result.build();
    }

    private static JsonArray arrayOf(String directive, JsonValue value) {
        if (value instanceof JsonArray array) {
            return array;
        }
        throw new ApiException(422, "Invalid", directive + " must be an array, got " + value.kind());
    }

    private static ApiException unknownDirective(JsonObject patch) {
        return new ApiException(
                422, "Invalid", "unknown $patch directive \"" + patch.text(PATCH) + "\"; expected replace, delete or merge");
    }
}
