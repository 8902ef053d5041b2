package io.nodekeeper.api.yaml;

import io.nodekeeper.api.ApiException;
import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonArray;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.api.json.JsonString;
import io.nodekeeper.api.json.JsonValue;
import java.nio.charset.StandardCharsets;
import java.util.Iterator;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import java.util.regex.Pattern;

/** Reads and writes YAML through JSON; refuses YAML that JSON cannot represent. */
public final class Yaml {
    /** The media type. */
    public static final String MEDIA_TYPE = "application/yaml";

    /** The media type of the body of a server-side apply. */
    public static final String APPLY_MEDIA_TYPE = "application/apply-patch+yaml";

    /** Text that every YAML reader, old or new, reads as a string without quotes. */
    private static final Pattern PLAIN = Pattern.compile("[A-Za-z_][A-Za-z0-9_./-]*");

    /** What JSON may contain, and YAML readers refuse or take for the end of a line. */
    private static final Pattern UNPRINTABLE = Pattern.compile("[\\x7F-\\x9F\\u2028\\u2029\\uFEFF\\uFFFE\\uFFFF]");

    private static final Set<String> WORDS =
            Set.of("y", "n", "yes", "no", "on", "off", "true", "false", "null", "nan", "inf");

    private Yaml() {}

    /**
     * The object in {@code body}.
     *
     * @param repeated receives a fault for each repeated field; the last value counts
     * @throws ApiException if it is malformed or not an object
     */
    public static JsonObject parse(byte[] body, Consumer<String> repeated) {
        try {
            return object(body, repeated);
        } catch (YamlException e) {
            throw ApiException.badRequest("the request body is not valid YAML: " + e.getMessage());
        }
    }

    /**
     * As {@link #parse}, for YAML that is not a request.
     *
     * @throws YamlException if it is malformed or not an object
     */
    public static JsonObject object(byte[] yaml, Consumer<String> repeated) {
        JsonValue value = YamlReader.read(yaml, repeated);
        if (value instanceof JsonObject object) {
            return object;
        }
        throw new YamlException("expected a mapping, got " + value.kind());
    }

    /** Writes {@code value} in block style. */
    public static byte[] write(JsonValue value) {
        StringBuilder out = new StringBuilder(1_024);
        block(out, value, 0, false);
        return out.toString().getBytes(StandardCharsets.UTF_8);
    }

    /** Writes a value that starts on its own line or, as an item of a list, after the dash. */
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
        boolean plain = PLAIN.matcher(text).matches() && !WORDS.contains(text.toLowerCase(Locale.ROOT));
        return plain ? text : quoted(text);
    }

    /** A JSON string is also a YAML string, but for some characters. */
    private static String quoted(String text) {
        return UNPRINTABLE
                .matcher(Json.write(new JsonString(text)))
                .replaceAll(found -> "\\\\u%04X".formatted((int) found.group().charAt(0)));
    }

    private static void indent(StringBuilder out, int indent) {
        out.repeat(' ', indent);
    }
}
