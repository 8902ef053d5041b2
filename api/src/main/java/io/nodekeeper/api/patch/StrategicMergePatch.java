package io.nodekeeper.api.patch;

import io.nodekeeper.api.ApiException;
import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonArray;
import io.nodekeeper.api.json.JsonNull;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.api.json.JsonValue;
import io.nodekeeper.api.schema.Schema;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Kubernetes' strategic merge patch: a JSON merge patch in which lists with a merge key are merged item by item, with
 * directives for special cases.
 *
 * <ul>
 * <li>{@code {"$patch": "replace"}} in an object replaces it by the other fields; as an item of a keyed list it
 *     replaces the list by the other items; {@code {"$patch": "delete", KEY: …}} removes an item, or, in an object, all
 *     its fields;
 * <li>{@code $setElementOrder/LIST} orders a merged list; without it, the items have the order of the patch
 *     ({@link ListOrder});
 * <li>{@code $deleteFromPrimitiveList/LIST} removes plain values;
 * <li>{@code $retainKeys} keeps only the named fields of its object.
 * </ul>
 *
 * The result never contains directives.
 */
public final class StrategicMergePatch {
    private static final String PATCH = "$patch";
    private static final String RETAIN_KEYS = "$retainKeys";
    private static final String DELETE_FROM = "$deleteFromPrimitiveList/";
    private static final String ORDER = "$setElementOrder/";

    /**
     * The most bytes that the items of one patch may copy, the limit of a JSON patch: an item with the key of an earlier one copies the
     * result of that, with all lists in it. Clients send one item of a key, which copies nothing, or three: a port may have three
     * protocols.
     */
    private static final int COPY_BYTES = JsonPatch.COPY_BYTES;

    /** The bytes that items of all lists have copied. */
    private long copied;

    private StrategicMergePatch() {}

    /**
     * {@code target} changed by {@code patch}.
     *
     * @throws ApiException 422 if an item of a keyed list lacks its key, or a directive is unknown or of the wrong type; 413 if items
     *     with the same key copy too much
     */
    public static JsonObject apply(JsonObject target, JsonObject patch, Schema schema) {
        return new StrategicMergePatch().merge(target, patch, Optional.of(schema));
    }

    private JsonObject merge(JsonObject target, JsonObject patch, Optional<Schema> schema) {
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
        JsonObject start = withoutDeleted(base, patch);
        JsonObject.Builder result = start.toBuilder();
        for (var change : patch.fields().entrySet()) {
            String name = change.getKey();
            JsonValue value = change.getValue();
            if (name.equals(PATCH)
                    || name.equals(RETAIN_KEYS)
                    || name.startsWith(DELETE_FROM)
                    || name.startsWith(ORDER)) {
                continue;
            }
            if (value == JsonNull.NULL) {
                result.remove(name);
                continue;
            }
            Optional<Schema> child = schema.flatMap(known -> known.field(name));
            JsonValue before = start.get(name).orElse(JsonNull.NULL);
            result.put(
                    name,
                    switch (value) {
                        case JsonObject object ->
                            merge(
                                    before instanceof JsonObject known && !isReplaced(child) ? known : JsonObject.EMPTY,
                                    object,
                                    child);
                        case JsonArray array ->
                            mergeList(before instanceof JsonArray known ? known : JsonArray.EMPTY, array, child);
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
                if (result.get(list).orElse(JsonNull.NULL) instanceof JsonArray now && !now.isEmpty()) {
                    JsonArray order = arrayOf(change.getKey(), change.getValue());
                    result.put(
                            list,
                            ListOrder.arranged(
                                    now.items(),
                                    order.items(),
                                    start.array(list).items(),
                                    item -> keyOf(item, key)));
                }
            }
        }
        return patch.has(RETAIN_KEYS)
                ? retained(
                        result.build(),
                        arrayOf(RETAIN_KEYS, patch.get(RETAIN_KEYS).get()))
                : result.build();
    }

    private static boolean isReplaced(Optional<Schema> schema) {
        return schema.orElse(Schema.Scalar.ANY) instanceof Schema.Fields fields
                && fields.strategy() == Schema.PatchStrategy.REPLACE;
    }

    /** Removals of plain values come first, so that values added by the same patch stay. */
    private static JsonObject withoutDeleted(JsonObject base, JsonObject patch) {
        JsonObject.Builder result = base.toBuilder();
        patch.fields().forEach((name, value) -> {
            if (name.startsWith(DELETE_FROM)) {
                String list = name.substring(DELETE_FROM.length());
                Set<String> gone = new HashSet<>();
                arrayOf(name, value).items().forEach(item -> gone.add(Json.identity(item)));
                if (!base.array(list).isEmpty()) {
                    result.put(list, filtered(base.array(list), gone));
                }
            }
        });
        return result.build();
    }

    private JsonArray mergeList(JsonArray target, JsonArray patch, Optional<Schema> schema) {
        if (!(schema.orElse(Schema.Scalar.ANY) instanceof Schema.ListOf list)) {
            return stripped(patch, Optional.empty());
        }
        if (list.set()) {
            Map<String, JsonValue> union = new LinkedHashMap<>();
            target.items().forEach(item -> union.putIfAbsent(Json.identity(item), item));
            patch.items().forEach(item -> union.putIfAbsent(Json.identity(item), item));
            return ListOrder.arranged(List.copyOf(union.values()), patch.items(), target.items(), Json::identity);
        }
        if (list.mergeKey().isEmpty()) {
            return stripped(patch, Optional.of(list.item()));
        }
        return mergeKeyed(target, patch, list);
    }

    private JsonArray mergeKeyed(JsonArray target, JsonArray patch, Schema.ListOf list) {
        String key = list.mergeKey();
        Optional<Schema> schema = Optional.of(list.item());
        boolean replace = false;
        Set<String> gone = new HashSet<>();
        List<JsonObject> items = new ArrayList<>();
        for (JsonValue value : patch.items()) {
            JsonObject item = keyed(value, key);
            if (!item.has(key)) {
                replace = true;
            } else if (item.text(PATCH).equals("delete")) {
                gone.add(keyOf(item, key));
            } else {
                items.add(item);
            }
        }
        if (replace) {
            // The list as given: two addresses of one type stay two addresses.
            return new JsonArray(items.stream()
                    .<JsonValue>map(item -> merge(JsonObject.EMPTY, item, schema))
                    .toList());
        }
        // Deletions come first, so that an item of the same key that the patch adds stays.
        List<JsonValue> live = target.items().stream()
                .filter(item -> !gone.contains(keyOf(item, key)))
                .toList();
        return ListOrder.arranged(merged(live, items, key, schema), items, live, item -> keyOf(item, key));
    }

    /** The items of both lists; those of {@code patch} change the first one with their key. */
    private List<JsonValue> merged(List<JsonValue> live, List<JsonObject> patch, String key, Optional<Schema> schema) {
        // Items by key, so that the cost is linear in a list's length; duplicate items of a faulty target stay under
        // one key.
        Map<String, List<JsonValue>> result = new LinkedHashMap<>();
        live.forEach(item ->
                result.computeIfAbsent(keyOf(item, key), k -> new ArrayList<>()).add(item));
        Set<String> changed = new HashSet<>();
        for (JsonObject item : patch) {
            String id = keyOf(item, key);
            List<JsonValue> same = result.computeIfAbsent(id, k -> new ArrayList<>(List.of(JsonObject.EMPTY)));
            JsonObject before = same.getFirst() instanceof JsonObject known ? known : JsonObject.EMPTY;
            if (!changed.add(id)) {
                countCopy(before, key);
            }
            same.set(0, merge(before, item, schema));
        }
        return result.values().stream().flatMap(List::stream).toList();
    }

    private void countCopy(JsonObject item, String key) {
        copied += Json.writeBytes(item).length;
        if (copied > COPY_BYTES) {
            throw new ApiException(
                    413,
                    "RequestEntityTooLarge",
                    "the items of the patch with the same " + key + " copy more than " + COPY_BYTES + " bytes");
        }
    }

    /** Checks an item of a patch for a list that is merged by {@code key}: it must have the key or replace the list. */
    private static JsonObject keyed(JsonValue value, String key) {
        if (!(value instanceof JsonObject item)) {
            throw new ApiException(
                    422,
                    "Invalid",
                    "an item of a list that is merged by " + key + " must be an object, got " + value.kind());
        }
        if (!item.has(key) && !item.text(PATCH).equals("replace")) {
            throw new ApiException(
                    422, "Invalid", "map: " + shown(item) + " does not contain declared merge key: " + key);
        }
        return item;
    }

    /** The identity of an item: the value of its key, or the item itself if there is none. */
    private static String keyOf(JsonValue item, String key) {
        return Json.identity(item instanceof JsonObject object ? object.get(key).orElse(item) : item);
    }

    /** A list that replaces another: its items without directives. */
    private JsonArray stripped(JsonArray items, Optional<Schema> schema) {
        return new JsonArray(items.items().stream()
                .map(item -> item instanceof JsonObject object
                        ? merge(JsonObject.EMPTY, object.without(PATCH), schema)
                        : item)
                .toList());
    }

    private static JsonArray filtered(JsonArray items, Set<String> gone) {
        return new JsonArray(items.items().stream()
                .filter(item -> !gone.contains(Json.identity(item)))
                .toList());
    }

    private static JsonObject retained(JsonObject object, JsonArray keys) {
        Set<String> keep = new HashSet<>(keys.strings().toList());
        JsonObject.Builder result = object.toBuilder();
        object.fields().keySet().stream().filter(name -> !keep.contains(name)).forEach(result::remove);
        return result.build();
    }

    /** The beginning of {@code value}, for a message. */
    private static String shown(JsonValue value) {
        String text = Json.write(value);
        return text.length() <= 500 ? text : text.substring(0, 500) + "…";
    }

    private static JsonArray arrayOf(String directive, JsonValue value) {
        if (value instanceof JsonArray array) {
            return array;
        }
        throw new ApiException(422, "Invalid", directive + " must be an array, got " + value.kind());
    }

    private static ApiException unknownDirective(JsonObject patch) {
        return new ApiException(
                422,
                "Invalid",
                "unknown $patch directive \"" + patch.text(PATCH) + "\"; expected replace, delete or merge");
    }
}
