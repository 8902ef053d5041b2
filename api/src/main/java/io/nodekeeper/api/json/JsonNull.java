package io.nodekeeper.api.json;

/** The JSON {@code null}. In an object it means the same as an absent field to the API, except in a patch. */
public enum JsonNull implements JsonValue {
    /** The only instance. */
    NULL;

    @Override
    public String kind() {
        return "null";
    }

    @Override
    public String toString() {
        return "null";
    }
}
