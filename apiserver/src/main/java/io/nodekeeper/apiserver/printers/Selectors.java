package io.nodekeeper.apiserver.printers;

import io.nodekeeper.api.json.JsonObject;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Writes labels and label selectors in one line, in the grammar of {@code kubectl get --selector}. */
final class Selectors {
    private Selectors() {}

    /** Labels: {@code app=web,tier=front}. */
    static String labels(JsonObject labels) {
        return joined(equal(labels));
    }

    /** The {@code matchLabels} and {@code matchExpressions} of a selector: {@code app=web,tier in (back,front),!old}. */
    static String of(JsonObject selector) {
        return joined(Stream.concat(
                equal(selector.object("matchLabels")),
                selector.array("matchExpressions")
                        .objects()
                        .map(expression -> Map.entry(expression.text("key"), requirement(expression)))));
    }

    private static Stream<Map.Entry<String, String>> equal(JsonObject labels) {
        return labels.texts().entrySet().stream()
                .map(label -> Map.entry(label.getKey(), label.getKey() + "=" + label.getValue()));
    }

    private static String requirement(JsonObject expression) {
        String key = expression.text("key");
        String values = expression.array("values").strings().sorted().collect(Collectors.joining(","));
        return switch (expression.text("operator")) {
            case "In" -> key + " in (" + values + ")";
            case "NotIn" -> key + " notin (" + values + ")";
            case "DoesNotExist" -> "!" + key;
            default -> key;
        };
    }

    /** The requirements in the order of their keys. */
    private static String joined(Stream<Map.Entry<String, String>> requirements) {
        return CellText.orNone(requirements
                .sorted(Map.Entry.comparingByKey())
                .map(Map.Entry::getValue)
                .collect(Collectors.joining(",")));
    }
}
