package io.nodekeeper.api.yaml;

/** A text is not YAML, or cannot be represented in JSON; the message has the error and its position. */
public final class YamlException extends RuntimeException {
    YamlException(String message) {
        super(message);
    }
}
