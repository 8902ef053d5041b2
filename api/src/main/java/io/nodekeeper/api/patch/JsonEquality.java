package io.nodekeeper.api.patch;

import io.nodekeeper.api.json.JsonArray;
import io.nodekeeper.api.json.JsonNumber;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.api.json.JsonValue;
import java.math.BigDecimal;
import java.util.Optional;

/** Compares values for the operation {@code test} of a JSON patch. */
final class JsonEquality {
    private JsonEquality() {}

    /**
     * Whether two values are equal by RFC 6902, which compares numbers by value. The cost is linear in the size of
     * {@code wanted}.
     */
    static boolean equal(JsonValue actual, JsonValue wanted) {
        return switch (wanted) {
            case JsonObject fields -> {
                if (!(actual instanceof JsonObject object)
                        || object.fields().size() != fields.fields().size()) {
                    yield false;
                }
                for (var field : fields.fields().entrySet()) {
                    Optional<JsonValue> there = object.get(field.getKey());
                    if (there.isEmpty() || !equal(there.get(), field.getValue())) {
                        yield false;
                    }
                }
                yield true;
            }
            case JsonArray items -> {
                if (!(actual instanceof JsonArray array)
                        || array.items().size() != items.items().size()) {
                    yield false;
                }
                for (int i = 0; i < items.items().size(); i++) {
                    if (!equal(array.items().get(i), items.items().get(i))) {
                        yield false;
                    }
                }
                yield true;
            }
            case JsonNumber number -> actual instanceof JsonNumber other && sameNumber(number, other);
            default -> actual.equals(wanted);
        };
    }

    private static boolean sameNumber(JsonNumber one, JsonNumber other) {
        if (one.equals(other)) {
            return true;
        }
        try {
            BigDecimal first = one.decimal();
            return first.compareTo(other.decimal()) == 0;
        } catch (NumberFormatException e) {
            // An exponent beyond 32 bits: such numbers are equal only if their notations are equal.
            return false;
        }
    }
}
