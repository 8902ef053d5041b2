package io.nodekeeper.apiserver.kinds;

import io.nodekeeper.api.FieldError;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.apiserver.fields.FieldCheck;
import io.nodekeeper.apiserver.registry.Strategy;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

/** The rules of PodDisruptionBudgets. A controller writes the allowed disruptions to their status. */
public final class DisruptionBudgetStrategy implements Strategy {
    private static final List<String> POLICIES = List.of("AlwaysAllow", "IfHealthyBudget");

    @Override
    public JsonObject prepareCreate(JsonObject object, Instant now) {
        return Generations.first(object);
    }

    @Override
    public JsonObject prepareUpdate(JsonObject object, JsonObject old) {
        return Generations.next(object, old);
    }

    @Override
    public List<FieldError> validate(JsonObject budget) {
        JsonObject spec = budget.object("spec");
        List<FieldError> errors = new ArrayList<>();
        if (spec.has("minAvailable") && spec.has("maxUnavailable")) {
            errors.add(
                    FieldError.invalid("spec", spec.toString(), "minAvailable and maxUnavailable cannot be both set"));
        }
        FieldCheck amounts = FieldCheck.of(spec, "spec");
        PodAmounts.checkShare(amounts, "minAvailable");
        PodAmounts.checkShare(amounts, "maxUnavailable");
        errors.addAll(amounts.errors());
        String policy = spec.text("unhealthyPodEvictionPolicy");
        if (!policy.isEmpty() && !POLICIES.contains(policy)) {
            errors.add(FieldError.notSupported(
                    "spec.unhealthyPodEvictionPolicy", "\"" + policy + "\"", "\"AlwaysAllow\", \"IfHealthyBudget\""));
        }
        return errors;
    }

    /** As in Kubernetes: several clients write it, and none may overwrite what another has just written. */
    @Override
    public boolean needsResourceVersion() {
        return true;
    }
}
