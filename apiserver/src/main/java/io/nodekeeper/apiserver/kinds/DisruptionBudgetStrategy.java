package io.nodekeeper.apiserver.kinds;

import io.nodekeeper.api.FieldError;
import io.nodekeeper.api.json.JsonNumber;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.api.json.JsonString;
import io.nodekeeper.api.json.JsonValue;
import io.nodekeeper.apiserver.registry.Strategy;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;

/** The rules of PodDisruptionBudgets. A controller writes the allowed disruptions to their status. */
public final class DisruptionBudgetStrategy implements Strategy {
    private static final List<String> POLICIES = List.of("AlwaysAllow", "IfHealthyBudget");
    private static final Pattern PERCENTAGE = Pattern.compile("[0-9]+%");

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
        for (String field : List.of("minAvailable", "maxUnavailable")) {
            spec.get(field)
                    .flatMap(DisruptionBudgetStrategy::amountFault)
                    .ifPresent(fault -> errors.add(FieldError.invalid(
                            "spec." + field, spec.get(field).orElseThrow().toString(), fault)));
        }
        String policy = spec.text("unhealthyPodEvictionPolicy");
        if (!policy.isEmpty() && !POLICIES.contains(policy)) {
            errors.add(FieldError.notSupported(
                    "spec.unhealthyPodEvictionPolicy", "\"" + policy + "\"", "\"AlwaysAllow\", \"IfHealthyBudget\""));
        }
        return errors;
    }

    /** The fault of an amount of pods, which must be a number or a percentage of at most 100. */
    private static Optional<String> amountFault(JsonValue amount) {
        if (amount instanceof JsonNumber number) {
            return number.longValue() < 0 ? Optional.of("must be greater than or equal to 0") : Optional.empty();
        }
        String text = amount instanceof JsonString string ? string.value() : "";
        if (!PERCENTAGE.matcher(text).matches()) {
            return Optional.of("a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%', "
                    + " or '93%', regex used for validation is '" + PERCENTAGE.pattern() + "')");
        }
        boolean most = text.length() > 4 || Integer.parseInt(text.substring(0, text.length() - 1)) > 100;
        return most ? Optional.of("must not be greater than 100%") : Optional.empty();
    }
}
