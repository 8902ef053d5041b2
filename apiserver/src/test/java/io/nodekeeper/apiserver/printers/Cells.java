package io.nodekeeper.apiserver.printers;

import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonObject;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;

/** Renders objects of tests, in which a single quote stands for a double one, as rows of tables. */
final class Cells {
    /** The time of all tables. */
    static final Instant NOW = Instant.parse("2026-11-21T07:00:00Z");

    private Cells() {}

    static JsonObject json(String object) {
        return Json.parseObject(object.replace('\'', '"'));
    }

    /** The cells of {@code object} as JSON, by their headings. */
    static Map<String, String> of(Table table, String object) {
        Map<String, String> cells = new LinkedHashMap<>();
        table.columns()
                .forEach(column -> cells.put(
                        column.name(),
                        column.cell().apply(json(object), NOW).toString().replace('"', '\'')));
        return cells;
    }
}
