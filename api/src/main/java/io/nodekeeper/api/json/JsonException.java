package io.nodekeeper.api.json;

/** Text that is not JSON, or that goes beyond what is accepted; the message says what and where. */
public final class JsonException extends RuntimeException {
    JsonException(String message) {
        super(message);
    }
}
