package io.nodekeeper.cli.status;

import io.nodekeeper.api.json.JsonArray;
import io.nodekeeper.api.json.JsonBool;
import io.nodekeeper.api.json.JsonNull;
import io.nodekeeper.api.json.JsonNumber;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.api.json.JsonString;
import io.nodekeeper.api.json.JsonValue;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.snakeyaml.engine.v2.api.Dump;
import org.snakeyaml.engine.v2.api.DumpSettings;
import org.snakeyaml.engine.v2.common.FlowStyle;
import org.snakeyaml.engine.v2.schema.CoreSchema;

/** Writes JSON as YAML. */
final class Yaml {
    private static final DumpSettings SETTINGS = DumpSettings.builder()
            .setDefaultFlowStyle(FlowStyle.BLOCK)
            .setWidth(4_096)
            // Quotes the texts True and False, which other readers take for truth values.
            .setSchema(new CoreSchema())
            .build();

    private Yaml() {}

    /** The same value as YAML, with its fields in the same order. */
    static String of(JsonValue value) {
        return new Dump(SETTINGS).dumpToString(plain(value));
    }

    private static @Nullable Object plain(JsonValue value) {
        return switch (value) {
            case JsonObject object -> {
                Map<String, @Nullable Object> fields = new LinkedHashMap<>();
                object.fields().forEach((name, field) -> fields.put(name, plain(field)));
                yield fields;
            }
            case JsonArray array -> list(array);
            case JsonString string -> string.value();
            case JsonNumber number when number.isLong() -> Long.valueOf(number.literal());
            case JsonNumber number -> Double.valueOf(number.literal());
            case JsonBool bool -> Boolean.parseBoolean(bool.toString());
            case JsonNull none -> null;
        };
    }

    private static List<@Nullable Object> list(JsonArray array) {
        List<@Nullable Object> items = new ArrayList<>();
        array.items().forEach(item -> items.add(plain(item)));
        return items;
    }
}
