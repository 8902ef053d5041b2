package io.nodekeeper.apiserver.pods.validation;

import io.nodekeeper.api.Names;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.apiserver.fields.FieldCheck;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

/** Validates scheduling: node selector, affinity, scheduling gates, topology spread constraints and tolerations. */
final class SchedulingRules {
    private static final String REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution";
    private static final String PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution";
    private static final List<String> EFFECTS = List.of("NoSchedule", "PreferNoSchedule", "NoExecute");
    private static final List<String> ACTIONS = List.of("DoNotSchedule", "ScheduleAnyway");
    private static final List<String> INCLUSION = List.of("Honor", "Ignore");

    private SchedulingRules() {}

    static void check(FieldCheck spec) {
        spec.labels("nodeSelector");
        FieldCheck affinity = spec.object("affinity");
        nodeAffinity(affinity.object("nodeAffinity"));
        podAffinity(affinity.object("podAffinity"));
        podAffinity(affinity.object("podAntiAffinity"));
        long keys = labelKeys(affinity.value());
        if (keys > PodRules.MOST_LABEL_KEYS) {
            affinity.forbidden(
                    "",
                    "its terms have " + keys + " matchLabelKeys and mismatchLabelKeys; expected at most "
                            + PodRules.MOST_LABEL_KEYS);
        }
        Set<String> gates = new HashSet<>();
        for (FieldCheck gate : spec.items("schedulingGates")) {
            gate.form("", gate.text("name"), Names::qualifiedFault);
            if (!gates.add(gate.text("name"))) {
                gate.duplicate("", gate.text("name"));
            }
        }
        spread(spec);
        tolerations(spec);
    }

    private static void nodeAffinity(FieldCheck affinity) {
        if (affinity.has(REQUIRED)) {
            FieldCheck required = affinity.object(REQUIRED);
            List<FieldCheck> terms = required.items("nodeSelectorTerms");
            if (terms.isEmpty()) {
                required.required("nodeSelectorTerms", "must have at least one node selector term");
            }
            terms.forEach(SchedulingRules::nodeTerm);
        }
        for (FieldCheck preferred : affinity.items(PREFERRED)) {
            weight(preferred);
            nodeTerm(preferred.object("preference"));
        }
    }

    private static void weight(FieldCheck preferred) {
        long weight = preferred.number("weight").orElse(0L);
        if (weight < 1 || weight > 100) {
            preferred.invalidNumber("weight", weight, "must be in the range 1-100");
        }
    }

    private static void nodeTerm(FieldCheck term) {
        Expressions.check(term, true);
        for (FieldCheck field : term.items("matchFields")) {
            List<String> values = field.texts("values");
            switch (field.text("operator")) {
                case "In", "NotIn" -> {
                    if (values.size() != 1) {
                        field.required(
                                "values",
                                "must be only one value when `operator` is 'In' or 'NotIn' for node field selector");
                    }
                }
                default -> field.invalid("operator", "not a valid selector operator");
            }
            if (field.text("key").equals("metadata.name")) {
                field.eachForm("values", Names::subdomainFault);
            } else {
                field.invalid("key", "not a valid field selector key");
            }
        }
    }

    static long labelKeys(JsonObject affinity) {
        return Stream.of("podAffinity", "podAntiAffinity")
                .map(affinity::object)
                .flatMap(rules -> Stream.concat(
                        rules.array(REQUIRED).objects(),
                        rules.array(PREFERRED).objects().map(preferred -> preferred.object("podAffinityTerm"))))
                .mapToLong(term -> term.array("matchLabelKeys").items().size()
                        + term.array("mismatchLabelKeys").items().size())
                .sum();
    }

    private static void podAffinity(FieldCheck affinity) {
        affinity.items(REQUIRED).forEach(SchedulingRules::podTerm);
        for (FieldCheck preferred : affinity.items(PREFERRED)) {
            weight(preferred);
            podTerm(preferred.object("podAffinityTerm"));
        }
    }

    private static void podTerm(FieldCheck term) {
        SelectorRules.check(term, "labelSelector");
        SelectorRules.check(term, "namespaceSelector");
        term.eachForm("namespaces", Names::labelFault);
        matchKeys(term, "matchLabelKeys");
        matchKeys(term, "mismatchLabelKeys");
        if (term.text("topologyKey").isEmpty()) {
            term.required("topologyKey", "can not be empty");
        } else {
            term.form("topologyKey", Names::qualifiedFault);
        }
        List<String> match = term.texts("matchLabelKeys");
        if (!match.isEmpty()) {
            onlyOnce(term, new HashSet<>(match), term.texts("mismatchLabelKeys"));
        }
    }

    /** A key to match stands nowhere else: with the pod's value it is in the selector already, and with a second one nothing matches. */
    private static void onlyOnce(FieldCheck term, Set<String> match, List<String> mismatch) {
        FieldCheck selector = term.object("labelSelector");
        Set<String> seen =
                new HashSet<>(selector.value().object("matchLabels").fields().keySet());
        for (FieldCheck requirement : selector.items("matchExpressions")) {
            String key = requirement.text("key");
            if (!seen.add(key) && match.contains(key)) {
                term.invalid("matchLabelKeys", key, "exists in both matchLabelKeys and labelSelector");
            }
        }
        mismatch.stream()
                .filter(match::contains)
                .forEach(key ->
                        term.invalid("matchLabelKeys", key, "exists in both matchLabelKeys and mismatchLabelKeys"));
    }

    private static void matchKeys(FieldCheck holder, String field) {
        if (!holder.value().array(field).isEmpty() && !holder.has("labelSelector")) {
            holder.forbidden(field, "must not be specified when labelSelector is not set");
        }
        holder.eachForm(field, Names::qualifiedFault);
    }

    private static void spread(FieldCheck spec) {
        Set<String> seen = new HashSet<>();
        for (FieldCheck constraint : spec.items("topologySpreadConstraints")) {
            long skew = constraint.number("maxSkew").orElse(0L);
            if (skew <= 0) {
                constraint.invalidNumber("maxSkew", skew, "must be greater than zero");
            }
            if (constraint.text("topologyKey").isEmpty()) {
                constraint.required("topologyKey", "can not be empty");
            } else {
                constraint.form("topologyKey", Names::qualifiedFault);
            }
            constraint.oneOf("whenUnsatisfiable", ACTIONS);
            String pair = "{" + constraint.text("topologyKey") + ", " + constraint.text("whenUnsatisfiable") + "}";
            if (!seen.add(pair)) {
                constraint.duplicate("{topologyKey, whenUnsatisfiable}", pair);
            }
            constraint.number("minDomains").ifPresent(domains -> {
                if (domains <= 0) {
                    constraint.invalidNumber("minDomains", domains, "must be greater than zero");
                }
                if (!constraint.text("whenUnsatisfiable").equals("DoNotSchedule")) {
                    constraint.invalidNumber(
                            "minDomains", domains, "can only use minDomains if whenUnsatisfiable=DoNotSchedule");
                }
            });
            constraint.oneOfIfSet("nodeAffinityPolicy", INCLUSION);
            constraint.oneOfIfSet("nodeTaintsPolicy", INCLUSION);
            matchKeys(constraint, "matchLabelKeys");
            SelectorRules.check(constraint, "labelSelector");
        }
    }

    static void tolerations(FieldCheck spec) {
        for (FieldCheck toleration : spec.items("tolerations")) {
            String operator = toleration.text("operator");
            toleration.formIfSet("key", Names::qualifiedFault);
            if (toleration.text("key").isEmpty() && !operator.equals("Exists")) {
                toleration.invalid(
                        "operator",
                        operator,
                        "operator must be Exists when `key` is empty, which means \"match all values and all keys\"");
            }
            if (toleration.has("tolerationSeconds")
                    && !toleration.text("effect").equals("NoExecute")) {
                toleration.invalid("effect", "effect must be 'NoExecute' when `tolerationSeconds` is set");
            }
            switch (operator) {
                case "", "Equal" -> toleration.form("operator", toleration.text("value"), Names::labelValueFault);
                case "Exists" -> {
                    if (!toleration.text("value").isEmpty()) {
                        toleration.invalid(
                                "operator",
                                toleration.text("value"),
                                "value must be empty when `operator` is 'Exists'");
                    }
                }
                default -> toleration.oneOfIfSet("operator", List.of("Equal", "Exists"));
            }
            toleration.oneOfIfSet("effect", EFFECTS);
        }
    }
}
