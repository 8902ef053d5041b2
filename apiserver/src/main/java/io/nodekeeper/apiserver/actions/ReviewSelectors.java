package io.nodekeeper.apiserver.actions;

import io.nodekeeper.api.ApiException;
import io.nodekeeper.api.FieldError;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.api.selector.FieldSelector;
import io.nodekeeper.api.selector.LabelSelector;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The selectors in the {@code resourceAttributes} of an access review (1.31, AuthorizeWithSelectors). Invalid parts are
 * ignored, which never grants more, and are named in the review's status.
 *
 * @param selected the fields that must have one value each
 * @param error what was ignored; empty if nothing was
 */
record ReviewSelectors(Map<String, String> selected, String error) {
    private static final String PATH = "spec.resourceAttributes.";
    private static final List<String> KINDS = List.of("fieldSelector", "labelSelector");

    /** Reads both selectors. */
    static ReviewSelectors of(JsonObject attributes) {
        Map<String, String> selected = new HashMap<>();
        List<String> faults = new ArrayList<>();
        JsonObject fields = attributes.object("fieldSelector");
        JsonObject labels = attributes.object("labelSelector");
        String raw = fields.text("rawSelector");
        if (!raw.isEmpty()) {
            try {
                FieldSelector.parse(raw).terms().stream()
                        .filter(FieldSelector.Term::equal)
                        .forEach(term -> selected.putIfAbsent(term.field(), term.value()));
            } catch (ApiException e) {
                faults.add(PATH + "fieldSelector ignored due to parse error");
            }
        }
        List<JsonObject> required = fields.array("requirements").objects().toList();
        List<JsonObject> known =
                required.stream().filter(ReviewSelectors::isKnown).toList();
        known.stream()
                .filter(one -> one.text("operator").equals("In"))
                .forEach(one -> selected.putIfAbsent(
                        one.text("key"),
                        one.array("values").strings().findFirst().orElse("")));
        if (known.size() < required.size()) {
            faults.add(PATH + "fieldSelector " + (known.isEmpty() ? "" : "partially ") + "ignored due to parse error");
        }
        try {
            LabelSelector.parse(labels.text("rawSelector"));
        } catch (ApiException e) {
            faults.add(PATH + "labelSelector ignored due to parse error");
        }
        // Not a copy: that of the JDK searches long for keys of one hash code.
        return new ReviewSelectors(Collections.unmodifiableMap(selected), String.join(". ", faults));
    }

    /** Field selectors compare with one value. */
    private static boolean isKnown(JsonObject requirement) {
        String operator = requirement.text("operator");
        return (operator.equals("In") || operator.equals("NotIn"))
                && requirement.array("values").items().size() == 1;
    }

    /** The faults of the selectors of a review. */
    static List<FieldError> faults(JsonObject attributes) {
        List<FieldError> errors = new ArrayList<>();
        for (String kind : KINDS) {
            if (!attributes.has(kind)) {
                continue;
            }
            JsonObject selector = attributes.object(kind);
            String raw = selector.text("rawSelector");
            List<JsonObject> requirements =
                    selector.array("requirements").objects().toList();
            if (!raw.isEmpty() && !requirements.isEmpty()) {
                errors.add(FieldError.invalid(
                        PATH + kind + ".rawSelector",
                        "\"" + raw + "\"",
                        "may not specified at the same time as requirements"));
            }
            if (raw.isEmpty() && requirements.isEmpty()) {
                errors.add(FieldError.required(
                        PATH + kind + ".requirements",
                        "when " + PATH + kind + " is specified, requirements or rawSelector is required"));
            }
            for (int i = 0; i < requirements.size(); i++) {
                fault(requirements.get(i), PATH + kind + ".requirements[" + i + "]", errors);
            }
        }
        return errors;
    }

    private static void fault(JsonObject requirement, String path, List<FieldError> errors) {
        boolean values = !requirement.array("values").isEmpty();
        switch (requirement.text("operator")) {
            case "In", "NotIn" -> {
                if (!values) {
                    errors.add(FieldError.required(
                            path + ".values", "must be specified when `operator` is 'In' or 'NotIn'"));
                }
            }
            case "Exists", "DoesNotExist" -> {
                if (values) {
                    errors.add(FieldError.forbidden(
                            path + ".values", "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"));
                }
            }
            // Operators of later versions are not an error: the requirement is ignored.
            default -> {}
        }
        if (requirement.text("key").isEmpty()) {
            errors.add(FieldError.required(path + ".key", "must be specified"));
        }
    }
}
