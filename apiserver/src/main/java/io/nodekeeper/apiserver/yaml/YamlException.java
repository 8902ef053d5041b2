package io.nodekeeper.apiserver.yaml;

/** A text that is no YAML, or that JSON cannot say; the message says what is wrong and where. */
final class YamlException extends RuntimeException {
    YamlException(String message) {
        super(message);
    }
}
