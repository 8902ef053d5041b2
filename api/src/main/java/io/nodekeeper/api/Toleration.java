package io.nodekeeper.api;

import io.nodekeeper.api.json.JsonObject;
import java.util.Optional;

/**
 * One entry of a pod's {@code spec.tolerations}. Immutable; equality is by content, so that pods can share them.
 *
 * @param key the taint's key; empty for any, with {@code Exists} only
 * @param operator {@code Exists} or {@code Equal}, which is also the meaning of the empty operator
 * @param value the taint's value, for {@code Equal}
 * @param effect the taint's effect; empty for any
 * @param seconds how long a NoExecute taint is tolerated; absent for ever, 0 or less not at all
 */
public record Toleration(String key, String operator, String value, String effect, Optional<Long> seconds) {
    /** The operator that matches every value, and with an empty key every taint. */
    public static final String EXISTS = "Exists";

    private static final String EQUAL = "Equal";

    /** Reads an entry. */
    public static Toleration of(JsonObject json) {
        return new Toleration(
                json.text("key"),
                json.text("operator"),
                json.text("value"),
                json.text("effect"),
                json.number("tolerationSeconds"));
    }

    /** Whether it matches {@code taint}, for any duration. An unknown operator matches nothing. */
    public boolean tolerates(Taint taint) {
        return tolerates(taint.key(), taint.value(), taint.effect());
    }

    /** Whether it matches a taint with that key, value and effect. */
    public boolean tolerates(String taintKey, String taintValue, String taintEffect) {
        if (!effect.isEmpty() && !effect.equals(taintEffect)) {
            return false;
        }
        if (key.isEmpty() ? !operator.equals(EXISTS) : !key.equals(taintKey)) {
            return false;
        }
        return switch (operator) {
            case EXISTS -> true;
            case EQUAL, "" -> value.equals(taintValue);
            default -> false;
        };
    }
}
