package io.nodekeeper.apiserver.wire;

import com.google.protobuf.CodedOutputStream;
import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonArray;
import io.nodekeeper.api.json.JsonBool;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.api.json.JsonString;
import io.nodekeeper.api.json.JsonValue;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;

/**
 * Writes an OpenAPI 2 document as the protobuf message {@code openapi.v2.Document}, which kubectl requests instead of
 * JSON. The numbers are those of the message's fields. Supports only the parts of OpenAPI that this server's documents
 * use.
 */
public final class Gnostic {
    private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    private final CodedOutputStream out = CodedOutputStream.newInstance(bytes);

    private Gnostic() {}

    /** Writes the fields of a message. */
    private interface Content {
        void into(Gnostic message) throws IOException;
    }

    /** Encodes {@code document}. */
    public static byte[] document(JsonObject document) {
        return message(message -> {
            message.text(1, document.text("swagger"));
            JsonObject info = document.object("info");
            message.nested(2, inner -> {
                inner.text(1, info.text("title"));
                inner.text(2, info.text("version"));
            });
            message.nested(8, paths -> paths.named(2, document.object("paths"), Gnostic::path));
            message.nested(9, definitions -> definitions.named(1, document.object("definitions"), Gnostic::schema));
        });
    }

    private static byte[] message(Content content) {
        Gnostic message = new Gnostic();
        try {
            content.into(message);
            message.out.flush();
        } catch (IOException e) {
            throw new UncheckedIOException("writing protobuf to memory", e);
        }
        return message.bytes.toByteArray();
    }

    private void nested(int field, Content content) throws IOException {
        out.writeByteArray(field, message(content));
    }

    private void text(int field, String text) throws IOException {
        if (!text.isEmpty()) {
            out.writeByteArray(field, text.getBytes(StandardCharsets.UTF_8));
        }
    }

    private void texts(int field, JsonArray array) throws IOException {
        for (String text : array.strings().toList()) {
            text(field, text);
        }
    }

    private void flag(int field, boolean set) throws IOException {
        if (set) {
            out.writeBool(field, true);
        }
    }

    /** Writes an object of an OpenAPI document. */
    private interface Writer {
        void write(Gnostic message, JsonObject object) throws IOException;
    }

    /** Writes a map, which this message has as a list of pairs. */
    private void named(int field, JsonObject map, Writer writer) throws IOException {
        for (var entry : map.fields().entrySet()) {
            if (entry.getValue() instanceof JsonObject value) {
                nested(field, pair -> {
                    pair.text(1, entry.getKey());
                    pair.nested(2, inner -> writer.write(inner, value));
                });
            }
        }
    }

    /** Writes extensions as YAML; JSON is a subset of YAML. */
    private void extensions(int field, JsonObject object) throws IOException {
        for (var entry : object.fields().entrySet()) {
            if (entry.getKey().startsWith("x-")) {
                nested(field, pair -> {
                    pair.text(1, entry.getKey());
                    pair.nested(2, any -> any.text(2, Json.write(entry.getValue())));
                });
            }
        }
    }

    private static void path(Gnostic message, JsonObject path) throws IOException {
        operation(message, 2, path.object("get"));
        operation(message, 3, path.object("put"));
        operation(message, 4, path.object("post"));
        operation(message, 5, path.object("delete"));
        operation(message, 8, path.object("patch"));
        parameters(message, 9, path.array("parameters"));
    }

    private static void operation(Gnostic message, int field, JsonObject operation) throws IOException {
        if (operation.isEmpty()) {
            return;
        }
        message.nested(field, inner -> {
            inner.text(3, operation.text("description"));
            inner.texts(6, operation.array("produces"));
            inner.texts(7, operation.array("consumes"));
            parameters(inner, 8, operation.array("parameters"));
            inner.nested(
                    9,
                    responses -> responses.named(
                            1,
                            operation.object("responses"),
                            (value, response) -> value.nested(1, one -> {
                                one.text(1, response.text("description"));
                                one.nested(
                                        2, item -> item.nested(1, schema -> schema(schema, response.object("schema"))));
                            })));
            inner.extensions(13, operation);
        });
    }

    private static void parameters(Gnostic message, int field, JsonArray parameters) throws IOException {
        for (JsonObject parameter : parameters.objects().toList()) {
            message.nested(field, item -> item.nested(1, one -> parameter(one, parameter)));
        }
    }

    private static void parameter(Gnostic message, JsonObject parameter) throws IOException {
        switch (parameter.text("in")) {
            case "body" ->
                message.nested(1, body -> {
                    body.text(2, parameter.text("name"));
                    body.text(3, "body");
                    body.flag(4, parameter.bool("required"));
                    body.nested(5, schema -> schema(schema, parameter.object("schema")));
                });
            case "path" ->
                message.nested(
                        2,
                        other -> other.nested(4, path -> {
                            path.flag(1, true);
                            path.text(2, "path");
                            path.text(4, parameter.text("name"));
                            path.text(5, parameter.text("type"));
                        }));
            default ->
                message.nested(
                        2,
                        other -> other.nested(3, query -> {
                            query.text(2, "query");
                            query.text(4, parameter.text("name"));
                            query.text(6, parameter.text("type"));
                        }));
        }
    }

    private static void schema(Gnostic message, JsonObject schema) throws IOException {
        message.text(1, schema.text("$ref"));
        message.text(2, schema.text("format"));
        message.text(4, schema.text("description"));
        JsonValue more = schema.get("additionalProperties").orElse(JsonBool.FALSE);
        if (more instanceof JsonObject values) {
            message.nested(21, item -> item.nested(1, inner -> schema(inner, values)));
        }
        if (schema.get("type").orElse(JsonBool.FALSE) instanceof JsonString type) {
            message.nested(22, item -> item.text(1, type.value()));
        }
        if (schema.has("items")) {
            message.nested(23, item -> item.nested(1, inner -> schema(inner, schema.object("items"))));
        }
        if (schema.has("properties")) {
            message.nested(25, properties -> properties.named(1, schema.object("properties"), Gnostic::schema));
        }
        message.extensions(31, schema);
    }
}
