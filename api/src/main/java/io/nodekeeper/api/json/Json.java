package io.nodekeeper.api.json;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonStreamContext;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.core.exc.StreamConstraintsException;
import com.fasterxml.jackson.core.json.JsonWriteFeature;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;

/** Reads and writes {@link JsonValue}s with Jackson's streaming parser. Thread-safe. */
public final class Json {
    /**
     * The deepest nesting that is accepted, which bounds the recursion here and in every consumer. The deepest real
     * objects, schemas of custom resources, have less than half of it; a level costs some hundred bytes of stack, so
     * that 200 fit any thread's stack.
     */
    public static final int MAX_DEPTH = 200;

    /**
     * The most values in the body of one request. A value takes about 100 bytes of memory but as little as two bytes of
     * the body, so a body of 3 MiB could need 150 MB. The largest storable object has 1.5 MiB; it stays within this
     * limit with six bytes for each value, and real objects have more.
     */
    public static final int MAX_VALUES = 250_000;

    /** The most repeated fields that are reported, which is more than a client shows. */
    private static final int REPORTED = 50;

    /** The most characters of a reported path, so that many repetitions below a long name cost no more than others. */
    private static final int PATH = 500;

    /** The size in bytes from which field names are not remembered for the next input. */
    private static final int LARGE = 64 << 10;

    /**
     * The longest field name in bytes that is remembered. The parser remembers 6,000 names, with which hostile input would fill the
     * memory if they were long.
     */
    private static final int REMEMBERED = 1_000;

    private static final JsonFactory FACTORY = factory(true, REMEMBERED);

    private Json() {}

    /**
     * A parser's factory, which remembers names for its next input; {@code longest} is about the most bytes of a name. Kubernetes sets
     * no limit: the names in managedFields contain names of variables and types of conditions, which have none.
     */
    private static JsonFactory factory(boolean sharedNames, int longest) {
        return JsonFactory.builder()
                .enable(JsonWriteFeature.COMBINE_UNICODE_SURROGATES_IN_UTF8)
                .configure(JsonFactory.Feature.INTERN_FIELD_NAMES, sharedNames)
                .streamReadConstraints(StreamReadConstraints.builder()
                        .maxNestingDepth(MAX_DEPTH)
                        .maxNumberLength(100)
                        .maxNameLength(longest)
                        .build())
                .build();
    }

    /**
     * Reads one JSON value that fills {@code bytes}.
     *
     * @throws JsonException if it is malformed, nested deeper than {@link #MAX_DEPTH}, repeats a field, has more behind it or
     *     holds text that UTF-8 cannot write
     */
    public static JsonValue parse(byte[] bytes) {
        return parse(bytes, Json::refuseRepeated, Integer.MAX_VALUE, Kept.ALL);
    }

    /**
     * Reads one JSON value out of the body of a request, as {@link #parse(byte[])}.
     *
     * @throws JsonException also if there are more than {@link #MAX_VALUES} values
     */
    public static JsonValue parseBody(byte[] bytes) {
        return parse(bytes, Json::refuseRepeated, MAX_VALUES, Kept.ALL);
    }

    /** The number of values in {@code value}, itself included. */
    public static int values(JsonValue value) {
        int values = 1;
        switch (value) {
            case JsonObject object -> {
                for (JsonValue field : object.fields().values()) {
                    values += values(field);
                }
            }
            case JsonArray array -> {
                for (JsonValue item : array.items()) {
                    values += values(item);
                }
            }
            default -> {}
        }
        return values;
    }

    private static void refuseRepeated(String path) {
        throw new JsonException("duplicate field \"" + path + "\"");
    }

    /**
     * What is kept of a value.
     *
     * @param parts what is kept of the items of a list
     * @param fields the fields that are read; empty for all
     */
    private record Kept(UnaryOperator<JsonObject> parts, Optional<JsonObject> fields) {
        private static final Kept ALL = new Kept(UnaryOperator.identity(), Optional.empty());
    }

    private static JsonValue parse(byte[] bytes, Consumer<String> repeated, int mostValues, Kept kept) {
        int[] told = {0};
        if (bytes.length < LARGE) {
            try {
                return parse(FACTORY, bytes, path -> told(path, told, repeated), mostValues, kept);
            } catch (StreamConstraintsException e) {
                // A long name, or what is refused below, too.
            }
        }
        try {
            return parse(
                    factory(false, Integer.MAX_VALUE),
                    bytes,
                    path -> {
                        if (--told[0] < 0) {
                            repeated.accept(path);
                        }
                    },
                    mostValues,
                    kept);
        } catch (StreamConstraintsException e) {
            throw new JsonException(oneLine(e));
        }
    }

    private static void told(String path, int[] told, Consumer<String> repeated) {
        told[0]++;
        repeated.accept(path);
    }

    private static JsonValue parse(
            JsonFactory factory, byte[] bytes, Consumer<String> repeated, int mostValues, Kept kept)
            throws StreamConstraintsException {
        try (JsonParser parser = factory.createParser(bytes)) {
            JsonToken first = parser.nextToken();
            if (first == null) {
                throw new JsonException("unexpected end of JSON input");
            }
            Reading reading = new Reading(parser, repeated, mayHoldHalves(bytes), mostValues, kept.parts);
            JsonValue value =
                    kept.fields.isPresent() ? reading.readFields(first, kept.fields.get()) : reading.read(first);
            if (parser.nextToken() != null) {
                throw new JsonException("there is more after the end of the JSON value");
            }
            return value;
        } catch (StreamConstraintsException e) {
            throw e;
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
     * Reads a list of the API. Of each object in its {@code items} only {@code parts} are kept, and they are taken as soon as it is
     * read: the list takes the memory of the parts and of one object, which may take many times its text.
     *
     * @param parts may be called again for the same objects
     * @throws JsonException as {@link #parseObject(byte[])}
     */
    public static JsonObject parseList(byte[] bytes, UnaryOperator<JsonObject> parts) {
        return object(parse(bytes, Json::refuseRepeated, Integer.MAX_VALUE, new Kept(parts, Optional.empty())));
    }

    /**
     * Reads one JSON object without the fields that {@code wanted} does not have. They are skipped, which is much faster than to read
     * them.
     *
     * @param wanted the wanted fields, of any value; an object there has in turn those of an object, or of each object in a list
     * @throws JsonException as {@link #parseObject(byte[])}, but a skipped field may repeat fields
     */
    public static JsonObject parseFields(byte[] bytes, JsonObject wanted) {
        Kept kept = new Kept(UnaryOperator.identity(), Optional.of(wanted));
        return object(parse(bytes, Json::refuseRepeated, Integer.MAX_VALUE, kept));
    }

    /**
     * Reads one JSON object out of the body of a request, in which the last value of a repeated field counts.
     *
     * @param repeated gets the path of each of the first 50 repetitions, as {@code spec.taints[0].key}, cut after 500
     *     characters
     * @throws JsonException as {@link #parseObject(byte[])}, repeated fields aside, or if there are more than
     *     {@link #MAX_VALUES} values
     */
    public static JsonObject parseBody(byte[] bytes, Consumer<String> repeated) {
        return object(parse(bytes, repeated, MAX_VALUES, Kept.ALL));
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

    /**
     * A text that is equal exactly for equal values. A hash table finds texts fast even if a client chose them to have the
     * same hash code, but not objects.
     */
    public static String identity(JsonValue value) {
        return switch (value) {
            case JsonString string -> '"' + string.value();
            case JsonNumber number -> number.literal();
            default -> write(sorted(value));
        };
    }

    /** The same value with the fields of all objects in the order of their names. */
    private static JsonValue sorted(JsonValue value) {
        return switch (value) {
            case JsonObject object -> {
                JsonObject.Builder ordered = JsonObject.builder();
                new TreeMap<>(object.fields()).forEach((name, field) -> ordered.put(name, sorted(field)));
                yield ordered.build();
            }
            case JsonArray array ->
                new JsonArray(array.items().stream().map(Json::sorted).toList());
            default -> value;
        };
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

    /** The reading of one value. Confined to one thread. */
    private static final class Reading {
        private final JsonParser parser;
        private final Consumer<String> repeated;
        /** Whether text may contain an unpaired surrogate. */
        private final boolean halves;
        /** What is kept of the items of a list. */
        private final UnaryOperator<JsonObject> parts;

        private int valuesLeft;
        private int reportsLeft = REPORTED;

        private Reading(
                JsonParser parser,
                Consumer<String> repeated,
                boolean halves,
                int mostValues,
                UnaryOperator<JsonObject> parts) {
            this.parser = parser;
            this.parts = parts;
            this.repeated = repeated;
            this.halves = halves;
            valuesLeft = mostValues;
        }

        private JsonValue read(JsonToken token) throws IOException {
            if (--valuesLeft < 0) {
                throw new JsonException("there are more than " + MAX_VALUES + " values");
            }
            return switch (token) {
                case START_OBJECT -> {
                    JsonObject.Builder object = JsonObject.builder();
                    while (parser.nextToken() != JsonToken.END_OBJECT) {
                        String name = halves ? whole(parser.currentName()) : parser.currentName();
                        if (!object.add(name, read(parser.nextToken())) && --reportsLeft >= 0) {
                            repeated.accept(path(parser.getParsingContext(), name));
                        }
                    }
                    yield object.build();
                }
                case START_ARRAY -> {
                    List<JsonValue> items = new ArrayList<>();
                    boolean ofList = isOfList(parser.getParsingContext());
                    for (JsonToken next = parser.nextToken(); next != JsonToken.END_ARRAY; next = parser.nextToken()) {
                        JsonValue item = read(next);
                        items.add(ofList && item instanceof JsonObject object ? parts.apply(object) : item);
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

        private JsonValue readFields(JsonToken token, JsonObject wanted) throws IOException {
            return switch (token) {
                case START_OBJECT -> {
                    JsonObject.Builder object = JsonObject.builder();
                    while (parser.nextToken() != JsonToken.END_OBJECT) {
                        String name = parser.currentName();
                        JsonToken next = parser.nextToken();
                        Optional<JsonValue> field = wanted.get(name);
                        if (field.isEmpty()) {
                            parser.skipChildren();
                        } else {
                            object.put(
                                    name,
                                    field.get() instanceof JsonObject inner ? readFields(next, inner) : read(next));
                        }
                    }
                    yield object.build();
                }
                case START_ARRAY -> {
                    List<JsonValue> items = new ArrayList<>();
                    for (JsonToken next = parser.nextToken(); next != JsonToken.END_ARRAY; next = parser.nextToken()) {
                        items.add(readFields(next, wanted));
                    }
                    yield new JsonArray(items);
                }
                default -> read(token);
            };
        }
    }

    /** Whether {@code array} is the field {@code items} of the value that is read. */
    private static boolean isOfList(JsonStreamContext array) {
        JsonStreamContext list = array.getParent();
        return list.inObject() && list.getParent().inRoot() && "items".equals(list.getCurrentName());
    }

    /** The path of the field {@code name} of the object that is being read. */
    private static String path(JsonStreamContext object, String name) {
        StringBuilder path = new StringBuilder(cut(name));
        for (JsonStreamContext at = object.getParent();
                at != null && !at.inRoot() && path.length() < PATH;
                at = at.getParent()) {
            if (at.inArray()) {
                path.insert(0, "[" + at.getCurrentIndex() + "].");
            } else {
                path.insert(0, cut(at.getCurrentName()) + (path.charAt(0) == '[' ? "" : "."));
            }
        }
        return cut(path.toString());
    }

    private static String cut(String text) {
        return text.length() <= PATH ? text : text.substring(0, PATH);
    }

    /**
     * Whether text in {@code bytes} may contain an unpaired surrogate, which could be read but not written again. Only
     * escapes and bytes that begin with 0xED can form one. Both are rare, so most strings need no check.
     */
    private static boolean mayHoldHalves(byte[] bytes) {
        int found = 0;
        for (byte next : bytes) {
            found |= next == '\\' || next == (byte) 0xED ? 1 : 0;
        }
        return found != 0;
    }

    /** Returns {@code text}, which must not contain an unpaired surrogate. */
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
