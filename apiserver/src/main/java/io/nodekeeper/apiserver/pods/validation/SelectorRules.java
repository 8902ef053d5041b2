package io.nodekeeper.apiserver.pods.validation;

import io.nodekeeper.apiserver.fields.FieldCheck;

/** Validates label selectors. */
public final class SelectorRules {
    private SelectorRules() {}

    /** Checks the label selector in {@code field} of {@code holder}, which may be absent. */
    public static void check(FieldCheck holder, String field) {
        if (!holder.has(field)) {
            return;
        }
        FieldCheck selector = holder.object(field);
        selector.labels("matchLabels");
        Expressions.check(selector, false);
    }
}
