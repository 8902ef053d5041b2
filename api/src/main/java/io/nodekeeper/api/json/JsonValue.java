package io.nodekeeper.api.json;

/**
 * A JSON value. Immutable, and therefore free to be shared between threads, caches and watchers; equality is by content,
 * the order of an object's fields aside.
 */
public sealed interface JsonValue permits JsonObject, JsonArray, JsonString, JsonNumber, JsonBool, JsonNull {

    /** The JSON word for the kind of this value, as error messages use it: {@code object}, {@code array}, {@code string}, … */
    String kind();
}
