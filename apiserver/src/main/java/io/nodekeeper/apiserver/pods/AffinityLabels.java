package io.nodekeeper.apiserver.pods;

import io.nodekeeper.api.json.JsonArray;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.api.json.JsonValue;
import io.nodekeeper.apiserver.fields.ObjectFields;
import io.nodekeeper.apiserver.pods.validation.PodRules;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * Merges the {@code matchLabelKeys} and {@code mismatchLabelKeys} of a new pod's affinity into the label selectors, with
 * the values of the pod's own labels. Schedulers read only the selectors.
 */
public final class AffinityLabels {
    private static final String REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution";
    private static final String PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution";

    private AffinityLabels() {}

    /** {@code pod} with the keys in its selectors; as it is if it has more keys than {@link PodRules} allow. */
    public static JsonObject merged(JsonObject pod) {
        if (PodRules.labelKeys(pod.object("spec").object("affinity")) > PodRules.MOST_LABEL_KEYS) {
            return pod;
        }
        Map<String, String> labels = pod.object("metadata").object("labels").texts();
        return ObjectFields.inside(
                pod,
                "spec",
                spec -> ObjectFields.inside(
                        spec,
                        "affinity",
                        affinity -> terms(terms(affinity, "podAffinity", labels), "podAntiAffinity", labels)));
    }

    private static JsonObject terms(JsonObject affinity, String kind, Map<String, String> labels) {
        return ObjectFields.inside(affinity, kind, rules -> {
            JsonObject required = ObjectFields.each(rules, REQUIRED, term -> term(term, labels));
            return ObjectFields.each(
                    required,
                    PREFERRED,
                    preferred -> ObjectFields.inside(preferred, "podAffinityTerm", term -> term(term, labels)));
        });
    }

    private static JsonObject term(JsonObject term, Map<String, String> labels) {
        List<JsonValue> added = new ArrayList<>(requirements(term.array("matchLabelKeys"), "In", labels));
        added.addAll(requirements(term.array("mismatchLabelKeys"), "NotIn", labels));
        // A term without a selector matches no pod, and with an expression it would match some.
        if (added.isEmpty() || !term.has("labelSelector")) {
            return term;
        }
        return term.update("labelSelector", selector -> {
            List<JsonValue> all =
                    new ArrayList<>(selector.array("matchExpressions").items());
            all.addAll(added);
            return selector.with("matchExpressions", new JsonArray(all));
        });
    }

    private static List<JsonValue> requirements(JsonArray keys, String operator, Map<String, String> labels) {
        return keys.strings()
                .filter(labels::containsKey)
                .<JsonValue>map(key -> JsonObject.builder()
                        .put("key", key)
                        .put("operator", operator)
                        .put("values", JsonArray.ofStrings(List.of(labels.getOrDefault(key, ""))))
                        .build())
                .toList();
    }
}
