package io.nodekeeper.api.json;

/** A JSON string. */
public record JsonString(String value) implements JsonValue {
    @Override
    public String kind() {
        return "string";
    }

    @Override
    public String toString() {
        return Json.write(this);
    }
}
