package io.nodekeeper.api.selector;

import io.nodekeeper.api.json.JsonObject;
import java.util.List;
import java.util.Map;

/** Evaluates label selectors in objects: {@code matchLabels} and {@code matchExpressions}. */
public final class LabelSelectors {
    private LabelSelectors() {}

    /**
     * Whether {@code selector} selects {@code labels}. All of its requirements must hold; an empty selector selects
     * everything, an unknown operator nothing.
     */
    public static boolean matches(JsonObject selector, Map<String, String> labels) {
        boolean equal = selector.object("matchLabels").texts().entrySet().stream()
                .allMatch(wanted -> wanted.getValue().equals(labels.get(wanted.getKey())));
        return equal
                && selector.array("matchExpressions").objects().allMatch(expression -> {
                    List<String> values = expression.array("values").strings().toList();
                    String key = expression.text("key");
                    String value = labels.getOrDefault(key, "");
                    boolean there = labels.containsKey(key);
                    return switch (expression.text("operator")) {
                        case "In" -> there && values.contains(value);
                        case "NotIn" -> !there || !values.contains(value);
                        case "Exists" -> there;
                        case "DoesNotExist" -> !there;
                        default -> false;
                    };
                });
    }
}
