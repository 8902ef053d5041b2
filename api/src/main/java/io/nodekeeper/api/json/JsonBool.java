package io.nodekeeper.api.json;

/** A JSON boolean. */
public record JsonBool(boolean value) implements JsonValue {
    /** The value {@code true}. */
    public static final JsonBool TRUE = new JsonBool(true);
    /** The value {@code false}. */
    public static final JsonBool FALSE = new JsonBool(false);

    @Override
    public String kind() {
        return "bool";
    }

    @Override
    public String toString() {
        return Json.write(this);
    }
}
