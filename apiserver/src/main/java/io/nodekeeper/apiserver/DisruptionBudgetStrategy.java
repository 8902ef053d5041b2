package io.nodekeeper.apiserver;

import io.nodekeeper.api.FieldError;
import io.nodekeeper.api.JsonObject;
import java.time.Instant;
import java.util.List;

/** The rules of PodDisruptionBudgets. How much they allow stands in their status, which a controller writes. */
final class DisruptionBudgetStrategy implements Strategy {

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
        return spec.has("minAvailable") && spec.has("maxUnavailable")
                ? List.of(FieldError.invalid(
                        "spec", spec.toString(), "minAvailable and maxUnavailable cannot be both set"))
                : List.of();
    }
}
