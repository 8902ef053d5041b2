package io.nodekeeper.apiserver.printers;

import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonArray;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.api.json.JsonValue;
import io.nodekeeper.apiserver.negotiation.Media;
import java.time.Instant;
import java.util.List;
import java.util.function.BiFunction;

/**
 * The table columns of a kind.
 *
 * @param columns the columns, in their order
 */
public record Table(List<Column> columns) {

    /**
     * One column.
     *
     * @param name the heading
     * @param type {@code string}, {@code integer}, {@code boolean} or {@code date}
     * @param wide whether it shows only in the wide form
     * @param cell the value for an object, at a time
     */
    record Column(String name, String type, boolean wide, BiFunction<JsonObject, Instant, JsonValue> cell) {}

    public JsonObject render(
            List<JsonObject> objects, Media media, boolean withColumns, JsonObject metadata, Instant now) {
        return JsonObject.builder()
                .put("kind", "Table")
                .put("apiVersion", media.apiVersion())
                .put("metadata", metadata)
                .put("columnDefinitions", withColumns ? definitions() : JsonArray.EMPTY)
                .put(
                        "rows",
                        new JsonArray(objects.stream()
                                .<JsonValue>map(object -> row(object, media, now))
                                .toList()))
                .build();
    }

    private JsonArray definitions() {
        return new JsonArray(columns.stream()
                .<JsonValue>map(column -> JsonObject.builder()
                        .put("name", column.name)
                        .put("type", column.type)
                        .put("format", column.name.equals("Name") ? "name" : "")
                        .put("description", column.name + " of the object")
                        .put("priority", column.wide ? 1 : 0)
                        .build())
                .toList());
    }

    public JsonObject row(JsonObject object, Media media, Instant now) {
        List<JsonValue> cells =
                columns.stream().map(column -> column.cell.apply(object, now)).toList();
        JsonObject.Builder row = JsonObject.builder().put("cells", new JsonArray(cells));
        switch (media.include()) {
            case "Object" -> row.put("object", object);
            case "None" -> {}
            default -> row.put("object", media.metadataOf(object));
        }
        return row.build();
    }

    @Override
    public String toString() {
        return Json.write(definitions());
    }
}
