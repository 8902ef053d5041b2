package io.nodekeeper.api.json;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.stream.Stream;

/** A JSON array. */
public record JsonArray(List<JsonValue> items) implements JsonValue {
    /** The array without items. */
    public static final JsonArray EMPTY = new JsonArray(List.of());

    /** Copies {@code items}. */
    public JsonArray {
        items = List.copyOf(items);
    }

    /** An array of {@code items}. */
    public static JsonArray of(JsonValue... items) {
        return new JsonArray(List.of(items));
    }

    /** An array of strings. */
    public static JsonArray ofStrings(Collection<String> texts) {
        return new JsonArray(texts.stream().<JsonValue>map(JsonString::new).toList());
    }

    /** The items that are objects. */
    public Stream<JsonObject> objects() {
        return items.stream().filter(JsonObject.class::isInstance).map(JsonObject.class::cast);
    }

    /** The items that are strings. */
    public Stream<String> strings() {
        return items.stream().filter(JsonString.class::isInstance).map(item -> ((JsonString) item).value());
    }

    /** This array with {@code item} at its end. */
    public JsonArray plus(JsonValue item) {
        List<JsonValue> more = new ArrayList<>(items);
        more.add(item);
        return new JsonArray(more);
    }

    /** Whether there are no items. */
    public boolean isEmpty() {
        return items.isEmpty();
    }

    @Override
    public String kind() {
        return "array";
    }

    @Override
    public String toString() {
        return Json.write(this);
    }
}
