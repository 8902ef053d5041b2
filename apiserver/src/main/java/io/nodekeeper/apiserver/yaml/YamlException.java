package io.nodekeeper.apiserver.yaml;

/** A text is not YAML, or cannot be represented in JSON; the message has the error and its position. */
final class YamlException extends RuntimeException {
    YamlException(String message) {
        super(message);
    }
}
