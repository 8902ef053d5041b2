package io.nodekeeper.api.json;

/** Thrown for text that is not JSON or exceeds the limits; the message says what is wrong and where. */
public final class JsonException extends RuntimeException {
    JsonException(String message) {
        super(message);
    }
}
