package io.nodekeeper.apiserver.pods.validation;

import io.nodekeeper.api.Names;
import io.nodekeeper.apiserver.fields.FieldCheck;
import java.util.List;

/** Validates the expressions of label selectors and node selectors. */
final class Expressions {
    private Expressions() {}

    /** Checks {@code matchExpressions}. Node selectors also have the operators Gt and Lt. */
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
