package io.nodekeeper.apiserver.kinds.workloads;

import io.nodekeeper.api.FieldError;
import io.nodekeeper.api.json.JsonNumber;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.api.json.JsonString;
import io.nodekeeper.api.json.JsonValue;
import io.nodekeeper.apiserver.fields.FieldCheck;
import io.nodekeeper.apiserver.fields.ObjectFields;
import io.nodekeeper.apiserver.kinds.Generations;
import io.nodekeeper.apiserver.kinds.PodAmounts;
import io.nodekeeper.apiserver.registry.Strategy;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** The rules of Deployments. No controller here makes pods of them; kube-controller-manager does. */
public final class DeploymentStrategy implements Strategy {
    private static final String ROLLING = "RollingUpdate";
    private static final String RECREATE = "Recreate";
    /** The pods of a Deployment belong to its ReplicaSets, which Kubernetes' messages name. */
    private static final String OWNER = "ReplicaSet";
    /** How long a rollout may take before it is reported as failed, in seconds (Kubernetes). */
    private static final long PROGRESS_SECONDS = 600;

    @Override
    public JsonObject prepareCreate(JsonObject object, Instant now) {
        return Generations.first(withDefaults(object));
    }

    /** Annotations count, too: the controller copies them to ReplicaSets. */
    @Override
    public JsonObject prepareUpdate(JsonObject object, JsonObject old) {
        JsonObject next = withDefaults(object);
        boolean annotated = !next.object("metadata")
                .object("annotations")
                .equals(old.object("metadata").object("annotations"));
        return Generations.next(next, old, annotated || !next.object("spec").equals(old.object("spec")));
    }

    @Override
    public JsonObject withDefaults(JsonObject deployment) {
        return deployment.update("spec", given -> {
            JsonObject spec = ObjectFields.value(PodTemplates.withDefaults(given), "replicas", JsonNumber.of(1));
            spec = ObjectFields.value(spec, "progressDeadlineSeconds", JsonNumber.of(PROGRESS_SECONDS));
            return spec.update("strategy", DeploymentStrategy::defaultedStrategy);
        });
    }

    private static JsonObject defaultedStrategy(JsonObject given) {
        JsonObject strategy = ObjectFields.text(given, "type", ROLLING);
        return strategy.text("type").equals(ROLLING)
                ? strategy.update(
                        "rollingUpdate",
                        rolling -> ObjectFields.value(
                                ObjectFields.value(rolling, "maxUnavailable", new JsonString("25%")),
                                "maxSurge",
                                new JsonString("25%")))
                : strategy;
    }

    @Override
    public List<FieldError> validateCreate(JsonObject deployment) {
        return PodTemplates.validateTemplate(deployment, OWNER);
    }

    @Override
    public List<FieldError> validate(JsonObject deployment) {
        List<FieldError> errors = new ArrayList<>(PodTemplates.validate(deployment));
        FieldCheck spec = FieldCheck.of(deployment.object("spec"), "spec");
        spec.notNegative("replicas");
        long deadline = spec.number("progressDeadlineSeconds").orElse(PROGRESS_SECONDS);
        if (deadline <= spec.number("minReadySeconds").orElse(0L)) {
            spec.invalidNumber("progressDeadlineSeconds", deadline, "must be greater than minReadySeconds");
        }
        errors.addAll(spec.errors());
        errors.addAll(strategyErrors(deployment.object("spec").object("strategy")));
        return errors;
    }

    private static List<FieldError> strategyErrors(JsonObject strategy) {
        String type = strategy.text("type");
        FieldCheck rolling = FieldCheck.of(strategy.object("rollingUpdate"), "spec.strategy.rollingUpdate");
        switch (type) {
            case RECREATE -> {
                if (strategy.has("rollingUpdate")) {
                    rolling.forbidden("", "may not be specified when strategy `type` is 'Recreate'");
                }
            }
            case ROLLING -> {
                PodAmounts.checkShare(rolling, "maxUnavailable");
                PodAmounts.check(rolling, "maxSurge");
                if (isZero(rolling, "maxUnavailable") && isZero(rolling, "maxSurge")) {
                    rolling.invalid("maxUnavailable", "may not be 0 when `maxSurge` is 0");
                }
            }
            default ->
                rolling.errors()
                        .add(FieldError.notSupported(
                                "spec.strategy", "\"" + type + "\"", "\"Recreate\", \"RollingUpdate\""));
        }
        return rolling.errors();
    }

    private static boolean isZero(FieldCheck rolling, String field) {
        Optional<JsonValue> amount = rolling.value().get(field);
        return amount.filter(value -> value.equals(JsonNumber.of(0)) || value.equals(new JsonString("0%")))
                .isPresent();
    }

    @Override
    public List<FieldError> validateUpdate(JsonObject deployment, JsonObject old) {
        return PodTemplates.validateUpdate(deployment, old, OWNER);
    }
}
