package io.nodekeeper.apiserver.pods.validation;

import io.nodekeeper.api.Names;
import io.nodekeeper.apiserver.fields.FieldCheck;
import java.util.List;

/** The rules of the expressions of selectors, of labels and of nodes: facts of Kubernetes. */
final class Expressions {
    private Expressions() {}

    /** Checks the expressions in {@code matchExpressions}; those about nodes may compare numbers, too. */
    static void check(FieldCheck selector, boolean compares) {
        for (FieldCheck expression : selector.items("matchExpressions")) {
            List<String> values = expression.texts("values");
            String operator = expression.text("operator");
            switch (operator) {
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
                default -> {
                    if (!compares || !(operator.equals("Gt") || operator.equals("Lt"))) {
                        expression.invalid("operator", "not a valid selector operator");
                    } else if (values.size() != 1) {
                        expression.required("values", "must be specified single value when `operator` is 'Lt' or 'Gt'");
                    }
                }
            }
            expression.form("key", Names::qualifiedFault);
            expression.eachForm("values", Names::labelValueFault);
        }
    }
}
