package io.nodekeeper.api.json;

/**
 * A JSON value. Immutable, so it can be shared between threads, caches and watchers. Equality is by content, without
 * the order of an object's fields.
 */
public sealed interface JsonValue permits JsonObject, JsonArray, JsonString, JsonNumber, JsonBool, JsonNull {

    /** The JSON name of this value's kind, for error messages: {@code object}, {@code array}, {@code string}, … */
    String kind();
}
