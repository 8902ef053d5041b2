package io.nodekeeper.api.patch;

import static io.nodekeeper.api.patch.PatchRefusals.refused;
import static io.nodekeeper.api.patch.PatchRefusals.shown;

import io.nodekeeper.api.ApiException;
import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonArray;
import io.nodekeeper.api.json.JsonNull;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.api.json.JsonValue;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * A mutable JSON value for {@link JsonPatch}. Only the parts on the paths of operations are opened, once each, and
 * changed in place; all other parts are shared. Not thread-safe.
 */
final class Draft {
    /** A part of the value. */
    sealed interface Part {}

    /** A part that was not opened. */
    private record Closed(JsonValue value) implements Part {}

    /** An opened object. */
    private record Fields(LinkedHashMap<String, Part> fields) implements Part {}

    /** An opened array. */
    private record Items(PieceList<Part> items) implements Part {}

    /** A part for a value of an operation. */
    static Part part(JsonValue value) {
        return new Closed(value);
    }

    private Part root;

    Draft(JsonValue value) {
        root = new Closed(value);
    }

    /** The current value. */
    JsonValue whole() {
        return close(root, Json.MAX_DEPTH);
    }

    /** The value at {@code path}. */
    JsonValue get(String path) {
        return close(find(path).orElseThrow(() -> missing(path)), Json.MAX_DEPTH);
    }

    /** Whether {@code wanted} is at {@code path}; a null may also be absent, as Kubernetes' library has it. */
    boolean holds(String path, JsonValue wanted) {
        Optional<Part> found = find(path);
        return found.isEmpty() ? wanted == JsonNull.NULL : equal(found.get(), wanted);
    }

    /** Adds {@code part} at {@code path}: sets a field, or inserts an item before the one there. */
    void add(String path, Part part) {
        if (path.isEmpty()) {
            root = part;
            return;
        }
        List<String> steps = steps(path);
        switch (parent(path, steps)) {
            case Fields object -> object.fields.put(steps.getLast(), part);
            case Items array -> {
                int size = array.items.size();
                int at = steps.getLast().equals("-") ? size : index(path, steps.getLast(), size);
                array.items.add(at, part);
            }
            case Closed closed -> throw noContainer(path, closed);
        }
    }

    /** Replaces the value at {@code path} with {@code part}. */
    void replace(String path, Part part) {
        if (path.isEmpty()) {
            root = part;
            return;
        }
        List<String> steps = steps(path);
        switch (parent(path, steps)) {
            case Fields object -> {
                if (object.fields.replace(steps.getLast(), part) == null) {
                    throw missing(path);
                }
            }
            case Items array -> array.items.set(index(path, steps.getLast(), array.items.size() - 1), part);
            case Closed closed -> throw noContainer(path, closed);
        }
    }

    /** Removes and returns the value at {@code path}. */
    Part remove(String path) {
        if (path.isEmpty()) {
            throw refused("the whole object cannot be removed");
        }
        List<String> steps = steps(path);
        return switch (parent(path, steps)) {
            case Fields object -> {
                Part gone = object.fields.remove(steps.getLast());
                if (gone == null) {
                    throw missing(path);
                }
                yield gone;
            }
            case Items array -> array.items.remove(index(path, steps.getLast(), array.items.size() - 1));
            case Closed closed -> throw noContainer(path, closed);
        };
    }

    /** Moves the value at {@code from} to {@code path}. */
    void move(String from, String path) {
        if (path.equals(from)) {
            if (find(from).isEmpty()) {
                throw missing(from);
            }
            return;
        }
        if (path.startsWith(from + "/")) {
            throw refused("a value cannot be moved into itself, from " + shown(from));
        }
        add(path, remove(from));
    }

    private Optional<Part> find(String path) {
        if (path.isEmpty()) {
            return Optional.of(root);
        }
        List<String> steps = steps(path);
        return switch (parent(path, steps)) {
            case Fields object -> Optional.ofNullable(object.fields.get(steps.getLast()));
            case Items array -> Optional.of(array.items.get(index(path, steps.getLast(), array.items.size() - 1)));
            case Closed closed -> throw noContainer(path, closed);
        };
    }

    /** The part that holds the last of {@code steps}, opened if it is an object or an array. */
    private Part parent(String path, List<String> steps) {
        root = opened(root);
        Part at = root;
        for (String step : steps.subList(0, steps.size() - 1)) {
            switch (at) {
                case Fields object -> {
                    Part next = object.fields.get(step);
                    if (next == null) {
                        throw missing(path);
                    }
                    at = opened(next);
                    if (at != next) {
                        object.fields.put(step, at);
                    }
                }
                case Items array -> {
                    int index = index(path, step, array.items.size() - 1);
                    Part next = array.items.get(index);
                    at = opened(next);
                    if (at != next) {
                        array.items.set(index, at);
                    }
                }
                case Closed closed -> throw noContainer(path, closed);
            }
        }
        return at;
    }

    private static Part opened(Part part) {
        if (part instanceof Closed(JsonObject object)) {
            LinkedHashMap<String, Part> fields = new LinkedHashMap<>();
            object.fields().forEach((name, value) -> fields.put(name, new Closed(value)));
            return new Fields(fields);
        }
        if (part instanceof Closed(JsonArray array)) {
            PieceList<Part> items = new PieceList<>();
            array.items().forEach(item -> items.add(items.size(), new Closed(item)));
            return new Items(items);
        }
        return part;
    }

    private static JsonValue close(Part part, int depth) {
        if (depth < 0) {
            throw refused("the result is nested deeper than " + Json.MAX_DEPTH + " levels");
        }
        return switch (part) {
            case Closed(JsonValue value) -> value;
            case Fields(Map<String, Part> fields) -> {
                JsonObject.Builder object = JsonObject.builder();
                fields.forEach((name, field) -> object.put(name, close(field, depth - 1)));
                yield object.build();
            }
            case Items(PieceList<Part> items) -> {
                List<JsonValue> array = new ArrayList<>(items.size());
                items.forEach(item -> array.add(close(item, depth - 1)));
                yield new JsonArray(array);
            }
        };
    }

    private static boolean equal(Part part, JsonValue wanted) {
        return switch (part) {
            case Closed(JsonValue value) -> JsonEquality.equal(value, wanted);
            case Fields(Map<String, Part> fields) ->
                wanted instanceof JsonObject object
                        && object.fields().size() == fields.size()
                        && object.fields().entrySet().stream().allMatch(field -> {
                            Part there = fields.get(field.getKey());
                            return there != null && equal(there, field.getValue());
                        });
            case Items(PieceList<Part> items) -> {
                if (!(wanted instanceof JsonArray array) || array.items().size() != items.size()) {
                    yield false;
                }
                int[] at = {0};
                boolean[] same = {true};
                items.forEach(item ->
                        same[0] = same[0] && equal(item, array.items().get(at[0]++)));
                yield same[0];
            }
        };
    }

    private static int index(String path, String step, int last) {
        boolean digits = !step.isEmpty() && step.length() < 10 && step.chars().allMatch(c -> c >= '0' && c <= '9');
        if (!digits || (step.length() > 1 && step.charAt(0) == '0')) {
            throw refused("\"" + shown(step) + "\" in " + shown(path)
                    + " is not an array index; expected a whole number without leading zeros");
        }
        int index = Integer.parseInt(step);
        if (index > last) {
            throw refused("the index in " + shown(path) + " is beyond the end of the array");
        }
        return index;
    }

    /** The steps of a JSON pointer (RFC 6901) that is not empty. */
    private static List<String> steps(String path) {
        if (path.charAt(0) != '/') {
            throw refused("\"" + shown(path) + "\" is no JSON pointer; expected \"\" or a slash at its beginning");
        }
        List<String> steps = new ArrayList<>();
        int start = 1;
        for (int end = path.indexOf('/', start); end >= 0; end = path.indexOf('/', start)) {
            steps.add(unescaped(path, start, end));
            start = end + 1;
        }
        steps.add(unescaped(path, start, path.length()));
        return steps;
    }

    private static String unescaped(String path, int start, int end) {
        if (path.indexOf('~', start, end) < 0) {
            return path.substring(start, end);
        }
        StringBuilder step = new StringBuilder(end - start);
        for (int i = start; i < end; i++) {
            char c = path.charAt(i);
            if (c == '~') {
                i++;
                char escape = i < end ? path.charAt(i) : ' ';
                if (escape != '0' && escape != '1') {
                    throw refused("\"" + shown(path) + "\" is no JSON pointer; expected 0 or 1 behind each tilde");
                }
                c = escape == '0' ? '~' : '/';
            }
            step.append(c);
        }
        return step.toString();
    }

    private static ApiException missing(String path) {
        return refused("nothing is at \"" + shown(path) + "\"");
    }

    private static ApiException noContainer(String path, Closed closed) {
        return refused("the parent of \"" + shown(path) + "\" is no object or array but " + closed.value.kind());
    }
}
