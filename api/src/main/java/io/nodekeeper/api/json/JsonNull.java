package io.nodekeeper.api.json;

/** The JSON {@code null}. In an object it means to the API the same as an absent field, except in a patch. */
public enum JsonNull implements JsonValue {
    /** The only one. */
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
