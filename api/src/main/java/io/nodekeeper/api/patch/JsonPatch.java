package io.nodekeeper.api.patch;

import static io.nodekeeper.api.patch.PatchRefusals.refused;
import static io.nodekeeper.api.patch.PatchRefusals.shown;

import io.nodekeeper.api.ApiException;
import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonArray;
import io.nodekeeper.api.json.JsonNull;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.api.json.JsonString;
import io.nodekeeper.api.json.JsonValue;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * A JSON patch (RFC 6902), with Kubernetes' limits. Its time is linear in the size of the object, the patch and the
 * copied values: the operations change one working copy in place, and open only the parts on their paths. An error
 * names the operation that failed. Immutable.
 */
public final class JsonPatch {
    /** The most operations of one patch (Kubernetes' limit). */
    public static final int OPERATIONS = 10_000;

    /** The most bytes that the operations of one patch may copy (Kubernetes' limit). */
    public static final int COPY_BYTES = 3 << 20;

    /** The kind of an operation. */
    private enum Kind {
        ADD,
        REMOVE,
        REPLACE,
        MOVE,
        COPY,
        TEST
    }

    /** One operation; {@code from} is empty for kinds without a source, {@code value} for kinds without a value. */
    private record Operation(Kind kind, String path, Optional<String> from, Optional<JsonValue> value) {}

    private final List<Operation> operations;

    private JsonPatch(List<Operation> operations) {
        this.operations = operations;
    }

    /**
     * Reads a patch.
     *
     * @throws ApiException 400 if {@code json} is no list of operations, 413 if it has more than {@link #OPERATIONS}
     */
    public static JsonPatch of(JsonValue json) {
        if (!(json instanceof JsonArray list)) {
            throw ApiException.badRequest("a JSON patch must be an array of operations, got " + json.kind());
        }
        int count = list.items().size();
        if (count > OPERATIONS) {
            throw new ApiException(
                    413,
                    "RequestEntityTooLarge",
                    "The allowed maximum operations in a JSON patch is " + OPERATIONS + ", got " + count);
        }
        List<Operation> operations = new ArrayList<>(count);
        for (JsonValue item : list.items()) {
            operations.add(operation(item));
        }
        return new JsonPatch(operations);
    }

    private static Operation operation(JsonValue item) {
        if (item instanceof JsonObject object
                && object.get("path").orElse(JsonNull.NULL) instanceof JsonString path
                && kind(object.text("op")).isPresent()) {
            Optional<String> from =
                    object.get("from").filter(JsonString.class::isInstance).map(value -> ((JsonString) value).value());
            return new Operation(kind(object.text("op")).get(), path.value(), from, object.get("value"));
        }
        throw ApiException.badRequest(
                "a JSON patch's operation needs a path and an op of [add, remove, replace, move, copy, test], got "
                        + shown(Json.write(item)));
    }

    private static Optional<Kind> kind(String op) {
        return switch (op) {
            case "add" -> Optional.of(Kind.ADD);
            case "remove" -> Optional.of(Kind.REMOVE);
            case "replace" -> Optional.of(Kind.REPLACE);
            case "move" -> Optional.of(Kind.MOVE);
            case "copy" -> Optional.of(Kind.COPY);
            case "test" -> Optional.of(Kind.TEST);
            default -> Optional.empty();
        };
    }

    /**
     * {@code target} changed by all operations in turn.
     *
     * @throws ApiException 422 if an operation cannot be done or a test fails, or no object is left; 413 if the copies exceed
     *     {@link #COPY_BYTES}
     */
    public JsonObject apply(JsonObject target) {
        Draft draft = new Draft(target);
        long copied = 0;
        for (Operation operation : operations) {
            switch (operation.kind) {
                case ADD -> draft.add(operation.path, Draft.part(value(operation)));
                case REPLACE -> draft.replace(operation.path, Draft.part(value(operation)));
                case REMOVE -> draft.remove(operation.path);
                case MOVE -> draft.move(from(operation), operation.path);
                case COPY -> {
                    JsonValue copy = draft.get(from(operation));
                    copied += Json.writeBytes(copy).length;
                    if (copied > COPY_BYTES) {
                        throw new ApiException(
                                413,
                                "RequestEntityTooLarge",
                                "the copies of the JSON patch exceed the limit of " + COPY_BYTES + " bytes");
                    }
                    draft.add(operation.path, Draft.part(copy));
                }
                case TEST -> {
                    if (!draft.holds(operation.path, value(operation))) {
                        throw refused("testing value " + shown(operation.path) + " failed");
                    }
                }
            }
        }
        if (draft.whole() instanceof JsonObject object) {
            return object;
        }
        throw refused("the patch does not leave an object");
    }

    private static JsonValue value(Operation operation) {
        return operation.value.orElseThrow(() -> refused(operation.kind.name().toLowerCase(java.util.Locale.ROOT)
                + " at " + shown(operation.path) + " needs a value"));
    }

    private static String from(Operation operation) {
        return operation.from.orElseThrow(() -> refused(operation.kind.name().toLowerCase(java.util.Locale.ROOT)
                + " to " + shown(operation.path) + " needs a from"));
    }
}
