package io.nodekeeper.apiserver;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.nodekeeper.api.ApiException;
import io.nodekeeper.api.Json;
import io.nodekeeper.api.JsonArray;
import io.nodekeeper.api.JsonObject;
import io.nodekeeper.api.JsonString;
import io.nodekeeper.api.JsonValue;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Iterator;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.regex.Pattern;
import org.snakeyaml.engine.v2.api.Load;
import org.snakeyaml.engine.v2.api.LoadSettings;
import org.snakeyaml.engine.v2.exceptions.DuplicateKeyException;
import org.snakeyaml.engine.v2.exceptions.YamlEngineException;

/** Reads and writes YAML by way of JSON: what JSON cannot say is refused. */
final class Yaml {
    /** The media type. */
    static final String MEDIA_TYPE = "application/yaml";

    /** The most that a body may become; as much as a body may be. Chosen. */
    private static final int MOST_BYTES = 3 << 20;

    private static final ObjectMapper MAPPER = new ObjectMapper();

    /** Text that no reader of YAML, old or new, takes for anything else when it stands there without quotes. */
    private static final Pattern PLAIN = Pattern.compile("[A-Za-z_][A-Za-z0-9_./-]*");

    private static final Set<String> WORDS =
            Set.of("y", "n", "yes", "no", "on", "off", "true", "false", "null", "nan", "inf");

    private Yaml() {}

    /**
     * The object in {@code body}.
     *
     * @param repeated is told what is wrong with a field that is there twice; the last one counts
     * @throws ApiException if it is malformed
     */
    static JsonObject parse(byte[] body, Consumer<String> repeated) {
        String text = new String(body, StandardCharsets.UTF_8);
        try {
            try {
                return object(text, false);
            } catch (DuplicateKeyException e) {
                repeated.accept(shortly(e));
                return object(text, true);
            }
        } catch (YamlEngineException | IOException | StackOverflowError e) {
            throw ApiException.badRequest("the request body is not valid YAML: " + shortly(e));
        }
    }

    private static JsonObject object(String text, boolean allowRepeated) throws IOException {
        Object tree = new Load(LoadSettings.builder()
                        .setAllowDuplicateKeys(allowRepeated)
                        .setMaxAliasesForCollections(50)
                        .build())
                .loadFromString(text);
        BoundedOutput json = new BoundedOutput();
        MAPPER.writeValue(json, tree);
        return Json.parseObject(json.toByteArray());
    }

    private static String shortly(Throwable error) {
        String message = Optional.ofNullable(error.getMessage()).orElse("nested too deeply");
        if (error instanceof DuplicateKeyException) {
            // The place comes first and is told over several lines; which field it is comes last.
            message = message.substring(
                    message.lastIndexOf("found duplicate key") < 0 ? 0 : message.lastIndexOf("found duplicate key"));
        }
        return message.lines().findFirst().orElse("");
    }

    /** Writes {@code value} in block style. */
    static byte[] write(JsonValue value) {
        StringBuilder out = new StringBuilder(1_024);
        block(out, value, 0, false);
        return out.toString().getBytes(StandardCharsets.UTF_8);
    }

    /** Writes a value that begins on a line of its own, or, as an item of a list, behind the dash. */
    private static void block(StringBuilder out, JsonValue value, int indent, boolean behindDash) {
        switch (value) {
            case JsonObject object
            when !object.isEmpty() -> {
                boolean first = behindDash;
                for (Map.Entry<String, JsonValue> field : object.fields().entrySet()) {
                    indent(out, first ? 0 : indent);
                    first = false;
                    out.append(scalar(field.getKey())).append(':');
                    nested(out, field.getValue(), indent);
                }
            }
            case JsonArray array
            when !array.isEmpty() -> {
                Iterator<JsonValue> items = array.items().iterator();
                for (boolean first = behindDash; items.hasNext(); first = false) {
                    indent(out, first ? 0 : indent);
                    out.append("- ");
                    block(out, items.next(), indent + 2, true);
                }
            }
            case JsonString string -> out.append(scalar(string.value())).append('\n');
            default -> out.append(Json.write(value)).append('\n');
        }
    }

    private static void nested(StringBuilder out, JsonValue value, int indent) {
        boolean lines = (value instanceof JsonObject object && !object.isEmpty())
                || (value instanceof JsonArray array && !array.isEmpty());
        out.append(lines ? '\n' : ' ');
        block(out, value, value instanceof JsonObject ? indent + 2 : indent, false);
    }

    private static String scalar(String text) {
        boolean plain = PLAIN.matcher(text).matches() && !WORDS.contains(text.toLowerCase(java.util.Locale.ROOT));
        // A string of JSON is one of YAML.
        return plain ? text : Json.write(new JsonString(text));
    }

    private static void indent(StringBuilder out, int indent) {
        out.repeat(' ', indent);
    }

    /** Aliases of aliases make a short YAML an endless JSON: this ends it. */
    private static final class BoundedOutput extends ByteArrayOutputStream {
        @Override
        public synchronized void write(int b) {
            check(1);
            super.write(b);
        }

        @Override
        public synchronized void write(byte[] bytes, int offset, int length) {
            check(length);
            super.write(bytes, offset, length);
        }

        private void check(int more) {
            if (count + more > MOST_BYTES) {
                throw ApiException.badRequest(
                        "the request body is not valid YAML: its aliases make more than " + MOST_BYTES + " bytes");
            }
        }
    }
}
