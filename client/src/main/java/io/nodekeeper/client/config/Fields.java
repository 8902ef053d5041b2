package io.nodekeeper.client.config;

import java.util.Map;

/** Reads fields of a kubeconfig's YAML. Stateless. */
final class Fields {
    private Fields() {}

    /** The scalar {@code key} as text, empty if there is none: a token of digits alone is a number to YAML. */
    static String text(Map<?, ?> map, String key) {
        Object value = map.get(key);
        return value instanceof String || value instanceof Number ? value.toString() : "";
    }
}
