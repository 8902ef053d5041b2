package io.nodekeeper.apiserver;

import io.nodekeeper.api.FieldError;
import io.nodekeeper.api.JsonObject;
import io.nodekeeper.api.Names;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** The rules of Pods, as far as a node's health is concerned. */
final class PodStrategy implements Strategy {
    /** The time a pod has to end (Kubernetes default). */
    private static final long GRACE_SECONDS = 30;

    @Override
    public JsonObject prepareCreate(JsonObject object, Instant now) {
        JsonObject spec = withDefault(object.object("spec"), "restartPolicy", "Always");
        spec = withDefault(spec, "dnsPolicy", "ClusterFirst");
        spec = withDefault(spec, "schedulerName", "default-scheduler");
        if (!spec.has("terminationGracePeriodSeconds")) {
            spec = spec.toBuilder()
                    .put("terminationGracePeriodSeconds", GRACE_SECONDS)
                    .build();
        }
        return object.with("spec", spec)
                .with("status", JsonObject.builder().put("phase", "Pending").build());
    }

    @Override
    public List<FieldError> validate(JsonObject pod) {
        List<FieldError> errors = new ArrayList<>();
        List<JsonObject> containers =
                pod.object("spec").array("containers").objects().toList();
        if (containers.isEmpty()) {
            errors.add(FieldError.required("spec.containers", ""));
        }
        for (int i = 0; i < containers.size(); i++) {
            String path = "spec.containers[" + i + "]";
            String name = containers.get(i).text("name");
            if (name.isEmpty()) {
                errors.add(FieldError.required(path + ".name", ""));
            } else {
                Names.labelFault(name)
                        .ifPresent(fault -> errors.add(FieldError.invalid(path + ".name", "\"" + name + "\"", fault)));
            }
            if (containers.get(i).text("image").isEmpty()) {
                errors.add(FieldError.required(path + ".image", ""));
            }
        }
        return errors;
    }

    @Override
    public List<FieldError> validateUpdate(JsonObject pod, JsonObject old) {
        String before = old.object("spec").text("nodeName");
        return before.equals(pod.object("spec").text("nodeName"))
                ? List.of()
                : List.of(FieldError.forbidden("spec.nodeName", "pod updates may not change nodeName"));
    }

    /** A pod that runs on a node gets the time to end; the agent removes it with a grace of 0. */
    @Override
    public long graceSeconds(JsonObject pod, Optional<Long> asked) {
        String phase = pod.object("status").text("phase");
        if (pod.object("spec").text("nodeName").isEmpty() || phase.equals("Succeeded") || phase.equals("Failed")) {
            return 0;
        }
        return asked.or(() -> pod.object("spec").number("terminationGracePeriodSeconds"))
                .orElse(GRACE_SECONDS);
    }

    private static JsonObject withDefault(JsonObject object, String name, String value) {
        return object.text(name).isEmpty() ? object.with(name, value) : object;
    }
}
