package io.nodekeeper.api.yaml;

import io.nodekeeper.api.Failures;
import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonArray;
import io.nodekeeper.api.json.JsonBool;
import io.nodekeeper.api.json.JsonNull;
import io.nodekeeper.api.json.JsonNumber;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.api.json.JsonString;
import io.nodekeeper.api.json.JsonValue;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.regex.Pattern;
import org.snakeyaml.engine.v2.api.LoadSettings;
import org.snakeyaml.engine.v2.api.lowlevel.Parse;
import org.snakeyaml.engine.v2.common.Anchor;
import org.snakeyaml.engine.v2.events.AliasEvent;
import org.snakeyaml.engine.v2.events.Event;
import org.snakeyaml.engine.v2.events.MappingStartEvent;
import org.snakeyaml.engine.v2.events.ScalarEvent;
import org.snakeyaml.engine.v2.events.SequenceStartEvent;
import org.snakeyaml.engine.v2.exceptions.YamlEngineException;
import org.snakeyaml.engine.v2.nodes.Tag;
import org.snakeyaml.engine.v2.resolver.JsonScalarResolver;
import org.snakeyaml.engine.v2.resolver.ScalarResolver;

/**
 * Reads one YAML document as JSON, in linear time and memory: it converts the parser's events directly to JSON, without a
 * YAML tree. An alias shares the value of its anchor, but counts towards the limits like a copy. For one use; not
 * thread-safe.
 *
 * <p>Limits: {@link Json#MAX_DEPTH} levels, {@link Json#MAX_VALUES} values and {@value #TEXT} characters after aliases,
 * and 100 characters of a number as in JSON. The parser itself allows 1,024 characters for a key without {@code ?}.
 */
final class YamlReader {
    /** The most characters of keys and scalars after aliases: the limit of a body in bytes. */
    private static final int TEXT = 3 << 20;

    /** The length of a text in characters from which messages do not contain the position of an error. */
    private static final int LARGE = 64 << 10;

    /** The most characters of a number, as in JSON. */
    private static final int NUMBER = 100;

    /** The most repeated keys that are reported: more than a client shows. */
    private static final int REPORTED = 50;

    private static final ScalarResolver RESOLVER = new JsonScalarResolver();
    private static final Pattern JSON_NUMBER =
            Pattern.compile("-?+(0|[1-9][0-9]*+)(\\.[0-9]++)?+([eE][-+]?+[0-9]++)?+");

    /** A value with an anchor, and its size for the limits; {@code height} is the number of levels below it. */
    private record Anchored(JsonValue value, int values, int characters, int height) {}

    private final Iterator<Event> events;
    private final Consumer<String> repeated;
    /** By the name of the anchor, as a hash table finds texts of one hash code fast. */
    private final Map<String, Anchored> anchors = new HashMap<>();

    private int values;
    private int characters;
    /** The levels that the value which is read now leaves below it: the fewest that it has had so far. */
    private int left = Json.MAX_DEPTH;

    private int reports;

    private YamlReader(Iterator<Event> events, Consumer<String> repeated) {
        this.events = events;
        this.repeated = repeated;
    }

    /**
     * Reads the only document in {@code bytes}, which is UTF-8.
     *
     * @param repeated receives an error for each of the first 50 keys that occur twice in a mapping; the last value counts
     * @throws YamlException if the document is malformed, cannot be represented in JSON, or exceeds a limit
     */
    public static JsonValue read(byte[] bytes, Consumer<String> repeated) {
        String text = new String(bytes, StandardCharsets.UTF_8);
        LoadSettings settings = LoadSettings.builder()
                // The parser copies all unread characters of its buffer each time it reads more. With its default of
                // 1,024
                // characters, the cost of a token is quadratic in its length.
                .setBufferSize(Math.max(1_024, text.length()))
                .setCodePointLimit(TEXT)
                // The two marks of each token take more memory than everything else; people do not write large
                // documents.
                .setUseMarks(text.length() < LARGE)
                .build();
        try {
            return new YamlReader(new Parse(settings).parseString(text).iterator(), repeated).document();
        } catch (YamlEngineException e) {
            throw new YamlException(YamlProblem.text(e));
        } catch (NumberFormatException e) {
            // The parser lets it through for escapes such as "\UFFFFFFFF".
            throw new YamlException("malformed number in an escape: " + YamlProblem.cut(Failures.text(e)));
        }
    }

    private JsonValue document() {
        JsonValue value = JsonNull.NULL;
        boolean found = false;
        while (events.hasNext()) {
            Event event = events.next();
            switch (event.getEventId()) {
                case StreamStart, StreamEnd, DocumentEnd, Comment -> {}
                case DocumentStart -> {
                    if (found) {
                        throw new YamlException("expected a single document, got more" + at(event));
                    }
                    found = true;
                }
                default -> value = value(event, Json.MAX_DEPTH);
            }
        }
        return value;
    }

    private JsonValue value(Event event, int depth) {
        checkDepth(depth, event);
        if (event instanceof AliasEvent alias) {
            Anchored anchored = anchors.get(alias.getAlias().getValue());
            if (anchored == null) {
                throw new YamlException("found undefined alias "
                        + YamlProblem.cut(alias.getAlias().getValue()) + at(event));
            }
            checkDepth(depth - anchored.height, event);
            left = Math.min(left, depth - anchored.height);
            count(event, anchored.values, anchored.characters);
            return anchored.value;
        }
        int valuesBefore = values;
        int charactersBefore = characters;
        int leftBefore = left;
        left = depth;
        Optional<Anchor> anchor = Optional.empty();
        JsonValue value;
        switch (event) {
            case ScalarEvent scalar -> {
                count(event, 1, scalar.getValue().length());
                anchor = scalar.getAnchor();
                value = scalar(scalar);
            }
            case MappingStartEvent start -> {
                count(event, 1, 0);
                checkTag(start.getTag(), Tag.MAP, event);
                anchor = start.getAnchor();
                value = mapping(depth);
            }
            case SequenceStartEvent start -> {
                count(event, 1, 0);
                checkTag(start.getTag(), Tag.SEQ, event);
                anchor = start.getAnchor();
                List<JsonValue> items = new ArrayList<>();
                for (Event next = events.next(); next.getEventId() != Event.ID.SequenceEnd; next = events.next()) {
                    items.add(value(next, depth - 1));
                }
                value = new JsonArray(items);
            }
            default -> throw new YamlException("unexpected " + event.getEventId() + at(event));
        }
        if (anchor.isPresent()) {
            anchors.put(
                    anchor.get().getValue(),
                    new Anchored(value, values - valuesBefore, characters - charactersBefore, depth - left));
        }
        left = Math.min(left, leftBefore);
        return value;
    }

    private static void checkDepth(int depth, Event event) {
        if (depth < 0) {
            throw new YamlException("nested deeper than " + Json.MAX_DEPTH + " levels, aliases included" + at(event));
        }
    }

    private void count(Event event, int moreValues, int moreCharacters) {
        values += moreValues;
        characters += moreCharacters;
        if (values > Json.MAX_VALUES) {
            throw new YamlException("there are more than " + Json.MAX_VALUES + " values, aliases included" + at(event));
        }
        if (characters > TEXT) {
            throw new YamlException("its aliases make more than " + TEXT + " bytes" + at(event));
        }
    }

    private JsonObject mapping(int depth) {
        JsonObject.Builder object = JsonObject.builder();
        Set<String> seen = new HashSet<>();
        for (Event next = events.next(); next.getEventId() != Event.ID.MappingEnd; next = events.next()) {
            String key = key(next);
            if (!seen.add(key) && reports++ < REPORTED) {
                repeated.accept("found duplicate key " + YamlProblem.cut(key));
            }
            object.put(key, value(events.next(), depth - 1));
        }
        return object.build();
    }

    /** A key, which must be a scalar other than null. */
    private String key(Event event) {
        JsonValue key = event instanceof ScalarEvent || event instanceof AliasEvent
                ? value(event, Json.MAX_DEPTH)
                : JsonNull.NULL;
        return switch (key) {
            case JsonString string -> string.value();
            case JsonNumber number -> number.literal();
            case JsonBool bool -> Boolean.toString(bool.value());
            default -> throw new YamlException("a key must be a text, a number or a boolean" + at(event));
        };
    }

    private static JsonValue scalar(ScalarEvent event) {
        String text = event.getValue();
        Optional<String> given = event.getTag().filter(tag -> !tag.equals("!"));
        Tag tag = given.isPresent()
                ? new Tag(given.get())
                : event.getTag().isPresent()
                        ? Tag.STR
                        : RESOLVER.resolve(text, event.getImplicit().canOmitTagInPlainScalar());
        if (tag.equals(Tag.STR)) {
            return new JsonString(text);
        }
        if (tag.equals(Tag.BINARY)) {
            // JSON has bytes in base64 without line ends.
            return new JsonString(text.replaceAll("\\s", ""));
        }
        if (tag.equals(Tag.NULL)) {
            return JsonNull.NULL;
        }
        if (tag.equals(Tag.BOOL) && (text.equals("true") || text.equals("false"))) {
            return text.equals("true") ? JsonBool.TRUE : JsonBool.FALSE;
        }
        if (tag.equals(Tag.INT) || tag.equals(Tag.FLOAT)) {
            return number(text, event);
        }
        throw new YamlException(
                "cannot read \"" + YamlProblem.cut(text) + "\" as " + YamlProblem.cut(tag.getValue()) + at(event));
    }

    private static JsonNumber number(String text, Event event) {
        if (text.length() <= NUMBER) {
            // In YAML a number may end with a dot, in JSON it may not.
            String literal = text.replaceFirst("\\.(?![0-9])", "");
            if (JSON_NUMBER.matcher(literal).matches()) {
                return new JsonNumber(literal);
            }
        }
        throw new YamlException("\"" + YamlProblem.cut(text) + "\" is no number of JSON with at most " + NUMBER
                + " characters" + at(event));
    }

    private static void checkTag(Optional<String> given, Tag expected, Event event) {
        if (given.isPresent() && !given.get().equals("!") && !given.get().equals(expected.getValue())) {
            throw new YamlException("unknown tag " + YamlProblem.cut(given.get()) + at(event));
        }
    }

    private static String at(Event event) {
        return event.getStartMark()
                .map(mark -> " (line " + (mark.getLine() + 1) + ", column " + (mark.getColumn() + 1) + ")")
                .orElse("");
    }
}
