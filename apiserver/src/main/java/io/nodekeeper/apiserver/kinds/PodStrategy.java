package io.nodekeeper.apiserver.kinds;

import io.nodekeeper.api.FieldError;
import io.nodekeeper.api.QosClass;
import io.nodekeeper.api.ResourceType;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.api.schema.Schema;
import io.nodekeeper.apiserver.authorization.node.NodeGraph;
import io.nodekeeper.apiserver.fields.ObjectFields;
import io.nodekeeper.apiserver.pods.AffinityLabels;
import io.nodekeeper.apiserver.pods.PodDefaults;
import io.nodekeeper.apiserver.pods.PriorityAdmission;
import io.nodekeeper.apiserver.pods.validation.AppArmor;
import io.nodekeeper.apiserver.pods.validation.PodRules;
import io.nodekeeper.apiserver.pods.validation.PodUpdates;
import io.nodekeeper.apiserver.registry.Strategy;
import io.nodekeeper.apiserver.schema.KindSchemas;
import io.nodekeeper.apiserver.storage.Codec;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** The rules of Pods. */
public final class PodStrategy implements Strategy {
    private static final Schema SCHEMA = KindSchemas.of(ResourceType.PODS);

    @Override
    public JsonObject prepareCreate(JsonObject object, Instant now) {
        JsonObject pod = AppArmor.synced(AffinityLabels.merged(object).update("spec", PodDefaults::podSpec));
        return pod.with(
                "status",
                JsonObject.builder()
                        .put("phase", "Pending")
                        .put("qosClass", QosClass.of(pod.object("spec")).text())
                        .build());
    }

    @Override
    public JsonObject prepareUpdate(JsonObject object, JsonObject old) {
        // Nearly all updates are of the status; a stored spec has its defaults.
        JsonObject before = old.object("spec");
        JsonObject pod = object.object("spec").equals(before)
                ? object
                : object.update(
                        "spec", spec -> changed(PodDefaults.podSpec(PriorityAdmission.kept(spec, before)), before));
        String quality = old.object("status").text("qosClass");
        return quality.isEmpty() || pod.object("status").isEmpty()
                ? pod
                : pod.update("status", status -> ObjectFields.text(status, "qosClass", quality));
    }

    /** {@code spec}, or {@code before} if both mean the same. */
    private static JsonObject changed(JsonObject spec, JsonObject before) {
        return PodUpdates.isSame(spec, before) ? before : spec;
    }

    @Override
    public List<FieldError> validateCreate(JsonObject pod) {
        List<FieldError> errors = new ArrayList<>(PodRules.pod(pod));
        errors.addAll(PodRules.newPod(pod));
        return errors;
    }

    /** An unchanged spec is not validated, so that a spec accepted by an earlier version does not block all updates. */
    @Override
    public List<FieldError> validateUpdate(JsonObject pod, JsonObject old) {
        List<FieldError> errors = new ArrayList<>();
        mirrorFault(pod, old)
                .ifPresent(fault -> errors.add(
                        FieldError.forbidden("metadata.annotations[" + NodeGraph.CONFIG_MIRROR + "]", fault)));
        if (!pod.object("spec").equals(old.object("spec"))) {
            errors.addAll(PodRules.pod(pod));
            // What an earlier version stored may lack defaults and have amounts in another form.
            JsonObject before = Codec.normalize(old, SCHEMA).update("spec", PodDefaults::podSpec);
            errors.addAll(PodUpdates.spec(pod, before));
        }
        errors.addAll(PodUpdates.status(pod, old));
        return errors;
    }

    /** A mirror pod must keep its annotation, because it has fewer rights than other pods. */
    private static Optional<String> mirrorFault(JsonObject pod, JsonObject old) {
        JsonObject was = old.object("metadata").object("annotations");
        JsonObject is = pod.object("metadata").object("annotations");
        if (was.get(NodeGraph.CONFIG_MIRROR).equals(is.get(NodeGraph.CONFIG_MIRROR))) {
            return Optional.empty();
        }
        return Optional.of(
                was.has(NodeGraph.CONFIG_MIRROR)
                        ? "may not remove or update mirror pod annotation"
                        : "may not add mirror pod annotation");
    }

    @Override
    public Strategy of(String subresource) {
        return subresource.equals("ephemeralcontainers") ? new EphemeralContainersStrategy() : this;
    }

    /** A pod that runs on a node gets a grace period; the agent deletes it at the end with a grace period of 0. */
    @Override
    public long graceSeconds(JsonObject pod, Optional<Long> asked) {
        String phase = pod.object("status").text("phase");
        if (pod.object("spec").text("nodeName").isEmpty() || phase.equals("Succeeded") || phase.equals("Failed")) {
            return 0;
        }
        long seconds = asked.or(() -> pod.object("spec").number("terminationGracePeriodSeconds"))
                .orElse(PodDefaults.GRACE_SECONDS);
        // A negative period is one second, as in Kubernetes.
        return seconds < 0 ? 1 : seconds;
    }
}
