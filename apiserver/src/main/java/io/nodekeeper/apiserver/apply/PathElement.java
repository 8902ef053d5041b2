package io.nodekeeper.apiserver.apply;

import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.api.json.JsonString;
import io.nodekeeper.api.json.JsonValue;
import io.nodekeeper.api.schema.Schema;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * One step of a path in an object, in Kubernetes' form: {@code f:NAME} for a field, {@code k:{…}} for the list item
 * with these keys, {@code v:…} for a scalar list item.
 */
final class PathElement {
    private PathElement() {}

    static String field(String name) {
        return "f:" + name;
    }

    static String value(JsonValue value) {
        return "v:" + Json.write(value);
    }

    /** Fields that identify an item together with the merge key, in lists with several keys (listMapKeys). */
    private static final List<String> SECOND_KEYS = List.of("protocol", "whenUnsatisfiable");

    /** The fields that identify the items of a list. */
    private static List<String> keys(Schema.ListOf list) {
        return Stream.concat(
                        Stream.of(list.mergeKey()),
                        SECOND_KEYS.stream()
                                .filter(key -> list.item().field(key).isPresent()))
                .toList();
    }

    /** The step to an item of a list with a merge key; empty if the item has no key. */
    static Optional<String> item(JsonValue item, Schema.ListOf list) {
        if (!(item instanceof JsonObject object) || !object.has(list.mergeKey())) {
            return Optional.empty();
        }
        JsonObject.Builder key = JsonObject.builder();
        for (String name : keys(list)) {
            JsonValue absent = new JsonString(name.equals("protocol") ? "TCP" : "");
            key.put(name, object.get(name).orElse(absent));
        }
        return Optional.of("k:" + Json.write(key.build()));
    }

    /** The step to an item of any list: by its key, or by its value if the list or the item has no key. */
    static String of(JsonValue item, Schema.ListOf list) {
        return (list.set() ? Optional.<String>empty() : item(item, list)).orElseGet(() -> value(item));
    }

    /** The schema of the value to which the step leads from one of {@code schema}; empty if it is unknown. */
    static Optional<Schema> schema(String element, Schema schema) {
        if (element.startsWith("f:")) {
            return schema.field(element.substring(2));
        }
        return schema instanceof Schema.ListOf list ? Optional.of(list.item()) : Optional.empty();
    }

    /** The step as messages show it: {@code .labels}, {@code [type="Ready"]}, {@code [="x"]}. */
    static String show(String element) {
        String rest = element.substring(2);
        return switch (element.charAt(0)) {
            case 'f' -> "." + rest;
            case 'k' -> {
                StringBuilder keys = new StringBuilder("[");
                Json.parseObject(rest)
                        .fields()
                        .forEach((name, value) -> keys.append(keys.length() > 1 ? "," : "")
                                .append(name)
                                .append('=')
                                .append(Json.write(value)));
                yield keys.append(']').toString();
            }
            default -> "[=" + rest + "]";
        };
    }
}
