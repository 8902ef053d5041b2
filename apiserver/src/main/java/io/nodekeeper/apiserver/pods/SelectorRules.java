package io.nodekeeper.apiserver.pods;

import io.nodekeeper.api.Names;
import java.util.List;

/** The rules of label selectors: facts of Kubernetes. */
final class SelectorRules {
    private SelectorRules() {}

    /** Checks the label selector in {@code field} of {@code holder}. */
    static void check(FieldCheck holder, String field) {
        if (!holder.has(field)) {
            return;
        }
        FieldCheck selector = holder.object(field);
        selector.labels("matchLabels");
        for (FieldCheck expression : selector.items("matchExpressions")) {
            List<String> values = expression.texts("values");
            switch (expression.text("operator")) {
                case "In", "NotIn" -> {
                    if (values.isEmpty()) {
                        expression.required("values", "must be specified when `operator` is 'In' or 'NotIn'");
                    }
                }
                case "Exists", "DoesNotExist" -> {
                    if (!values.isEmpty()) {
                        expression.forbidden(
                                "values", "may not be specified when `operator` is 'Exists' or 'DoesNotExist'");
                    }
                }
                default -> expression.invalid("operator", "not a valid selector operator");
            }
            expression.form("key", Names::qualifiedFault);
            expression.eachForm("values", Names::labelValueFault);
        }
    }
}
