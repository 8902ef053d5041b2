package io.nodekeeper.api;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonStreamContext;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.core.json.JsonWriteFeature;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/** Reads and writes {@link JsonValue}s with Jackson's streaming parser. Thread-safe. */
public final class Json {
    /** Nesting beyond which input is refused, as the recursion here and in every consumer must end. Chosen. */
    public static final int MAX_DEPTH = 200;

    private static final JsonFactory FACTORY = JsonFactory.builder()
            .enable(JsonWriteFeature.COMBINE_UNICODE_SURROGATES_IN_UTF8)
            .streamReadConstraints(StreamReadConstraints.builder()
                    .maxNestingDepth(MAX_DEPTH)
                    .maxNumberLength(100)
                    .build())
            .build();

    private Json() {}

    /**
     * Reads one JSON value that fills {@code bytes}.
     *
     * @throws JsonException if it is malformed, nested deeper than {@link #MAX_DEPTH}, repeats a field, has more behind it or
     *     holds text that UTF-8 cannot write
     */
    public static JsonValue parse(byte[] bytes) {
        return parse(bytes, path -> {
            throw new JsonException("duplicate field \"" + path + "\"");
        });
    }

    private static JsonValue parse(byte[] bytes, Consumer<String> repeated) {
        try (JsonParser parser = FACTORY.createParser(bytes)) {
            JsonToken first = parser.nextToken();
            if (first == null) {
                throw new JsonException("unexpected end of JSON input");
            }
            JsonValue value = read(parser, first, repeated, mayHoldHalves(bytes));
            if (parser.nextToken() != null) {
                throw new JsonException("there is more after the end of the JSON value");
            }
            return value;
        } catch (JsonProcessingException e) {
            throw new JsonException(oneLine(e));
        } catch (IOException e) {
            throw new JsonException("not JSON in UTF-8: " + e.getMessage());
        }
    }

    /** Reads one JSON value from {@code text}, as {@link #parse(byte[])}. */
    public static JsonValue parse(String text) {
        return parse(text.getBytes(StandardCharsets.UTF_8));
    }

    /**
     * Reads one JSON object.
     *
     * @throws JsonException as {@link #parse(byte[])}, or if it is another kind of value
     */
    public static JsonObject parseObject(byte[] bytes) {
        return object(parse(bytes));
    }

    /**
     * Reads one JSON object in which the last value of a repeated field counts.
     *
     * @param repeated is told the path of each repetition, as {@code spec.taints[0].key}
     * @throws JsonException as {@link #parseObject(byte[])}, repeated fields aside
     */
    public static JsonObject parseObject(byte[] bytes, Consumer<String> repeated) {
        return object(parse(bytes, repeated));
    }

    private static JsonObject object(JsonValue value) {
        if (value instanceof JsonObject object) {
            return object;
        }
        throw new JsonException("expected a JSON object, got " + value.kind());
    }

    /** Reads one JSON object from {@code text}, as {@link #parseObject(byte[])}. */
    public static JsonObject parseObject(String text) {
        return parseObject(text.getBytes(StandardCharsets.UTF_8));
    }

    /** Writes {@code value} without white space. */
    public static String write(JsonValue value) {
        return new String(writeBytes(value), StandardCharsets.UTF_8);
    }

    /** Writes {@code value} without white space, in UTF-8. */
    public static byte[] writeBytes(JsonValue value) {
        return JsonWriter.write(value);
    }

    /** Writes {@code value} for people, indented. */
    public static String writePretty(JsonValue value) {
        ByteArrayOutputStream out = new ByteArrayOutputStream(1_024);
        try (JsonGenerator generator = FACTORY.createGenerator(out)) {
            generator.useDefaultPrettyPrinter();
            write(generator, value);
        } catch (IOException e) {
            throw new UncheckedIOException("writing JSON to memory", e);
        }
        return out.toString(StandardCharsets.UTF_8);
    }

    private static JsonValue read(JsonParser parser, JsonToken token, Consumer<String> repeated, boolean halves)
            throws IOException {
        return switch (token) {
            case START_OBJECT -> {
                JsonObject.Builder object = JsonObject.builder();
                while (parser.nextToken() != JsonToken.END_OBJECT) {
                    String name = halves ? whole(parser.currentName()) : parser.currentName();
                    if (!object.add(name, read(parser, parser.nextToken(), repeated, halves))) {
                        repeated.accept(path(parser.getParsingContext(), name));
                    }
                }
                yield object.build();
            }
            case START_ARRAY -> {
                List<JsonValue> items = new ArrayList<>();
                for (JsonToken next = parser.nextToken(); next != JsonToken.END_ARRAY; next = parser.nextToken()) {
                    items.add(read(parser, next, repeated, halves));
                }
                yield new JsonArray(items);
            }
            case VALUE_STRING -> new JsonString(halves ? whole(parser.getText()) : parser.getText());
            case VALUE_NUMBER_INT, VALUE_NUMBER_FLOAT -> new JsonNumber(parser.getText());
            case VALUE_TRUE -> JsonBool.TRUE;
            case VALUE_FALSE -> JsonBool.FALSE;
            case VALUE_NULL -> JsonNull.NULL;
            default -> throw new JsonException("unexpected " + token);
        };
    }

    /** The path of the field {@code name} of the object that is being read. */
    private static String path(JsonStreamContext object, String name) {
        StringBuilder path = new StringBuilder(name);
        for (JsonStreamContext at = object.getParent(); at != null && !at.inRoot(); at = at.getParent()) {
            if (at.inArray()) {
                path.insert(0, "[" + at.getCurrentIndex() + "].");
            } else {
                path.insert(0, at.getCurrentName() + (path.charAt(0) == '[' ? "" : "."));
            }
        }
        return path.toString();
    }

    /**
     * Whether text in {@code bytes} could hold half of a character, which could be read but never be written again: escapes
     * can spell one, and so can bytes that begin with 0xED. Nearly nobody sends either, so most strings need no look.
     */
    private static boolean mayHoldHalves(byte[] bytes) {
        int found = 0;
        for (byte next : bytes) {
            found |= next == '\\' || next == (byte) 0xED ? 1 : 0;
        }
        return found != 0;
    }

    /** {@code text}, which must not hold half of a character. */
    private static String whole(String text) {
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (Character.isSurrogate(c)) {
                boolean pair = Character.isHighSurrogate(c)
                        && i + 1 < text.length()
                        && Character.isLowSurrogate(text.charAt(i + 1));
                if (!pair) {
                    throw new JsonException("a string holds half of a surrogate pair: \\u" + Integer.toHexString(c));
                }
                i++;
            }
        }
        return text;
    }

    private static void write(JsonGenerator generator, JsonValue value) throws IOException {
        switch (value) {
            case JsonObject object -> {
                generator.writeStartObject();
                for (var field : object.fields().entrySet()) {
                    generator.writeFieldName(field.getKey());
                    write(generator, field.getValue());
                }
                generator.writeEndObject();
            }
            case JsonArray array -> {
                generator.writeStartArray();
                for (JsonValue item : array.items()) {
                    write(generator, item);
                }
                generator.writeEndArray();
            }
            case JsonString string -> generator.writeString(string.value());
            case JsonNumber number -> generator.writeNumber(number.literal());
            case JsonBool bool -> generator.writeBoolean(bool.value());
            case JsonNull ignored -> generator.writeNull();
        }
    }

    private static String oneLine(JsonProcessingException e) {
        String where = e.getLocation() == null
                ? ""
                : " (line " + e.getLocation().getLineNr() + ", column "
                        + e.getLocation().getColumnNr() + ")";
        return e.getOriginalMessage().lines().findFirst().orElse("malformed JSON") + where;
    }
}
