package io.nodekeeper.apiserver;

import io.nodekeeper.api.FieldError;
import io.nodekeeper.api.JsonArray;
import io.nodekeeper.api.JsonBool;
import io.nodekeeper.api.JsonNumber;
import io.nodekeeper.api.JsonObject;
import io.nodekeeper.api.JsonValue;
import io.nodekeeper.api.Names;
import io.nodekeeper.apiserver.access.NodeGraph;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.Optional;

/** The rules of Pods, as far as a node's health is concerned. */
final class PodStrategy implements Strategy {
    /** The time a pod has to end (Kubernetes default). */
    private static final long GRACE_SECONDS = 30;

    private static final List<String> RESTARTS = List.of("Always", "OnFailure", "Never");
    /** What of a pod's spec may change at all, besides its containers' images (Kubernetes). */
    private static final List<String> MUTABLE =
            List.of("activeDeadlineSeconds", "tolerations", "terminationGracePeriodSeconds");

    @Override
    public JsonObject prepareCreate(JsonObject object, Instant now) {
        JsonObject pod = object.update("spec", PodStrategy::completedSpec);
        return pod.with(
                "status",
                JsonObject.builder()
                        .put("phase", "Pending")
                        .put("qosClass", PodQuality.of(pod.object("spec")))
                        .build());
    }

    @Override
    public JsonObject prepareUpdate(JsonObject object, JsonObject old) {
        JsonObject pod = object.update("spec", PodStrategy::completedSpec);
        String quality = old.object("status").text("qosClass");
        return quality.isEmpty() || pod.object("status").isEmpty()
                ? pod
                : pod.update("status", status -> Defaults.text(status, "qosClass", quality));
    }

    /** The defaults of a pod, those that Kubernetes' admission gives included. */
    private static JsonObject completedSpec(JsonObject given) {
        JsonObject spec = defaultedSpec(given);
        spec = Defaults.value(spec, "enableServiceLinks", JsonBool.TRUE);
        spec = Defaults.value(spec, "priority", JsonNumber.of(0));
        return Defaults.text(spec, "preemptionPolicy", "PreemptLowerPriority");
    }

    /** The defaults of a pod's spec and of a pod template's. */
    static JsonObject defaultedSpec(JsonObject given) {
        JsonObject spec = Defaults.text(given, "restartPolicy", "Always");
        spec = Defaults.text(spec, "dnsPolicy", "ClusterFirst");
        spec = Defaults.text(spec, "schedulerName", "default-scheduler");
        spec = Defaults.value(spec, "terminationGracePeriodSeconds", JsonNumber.of(GRACE_SECONDS));
        spec = Defaults.value(spec, "securityContext", JsonObject.EMPTY);
        spec = Defaults.each(spec, "containers", PodStrategy::defaultedContainer);
        return Defaults.each(spec, "initContainers", PodStrategy::defaultedContainer);
    }

    private static JsonObject defaultedContainer(JsonObject given) {
        JsonObject container = Defaults.value(given, "resources", JsonObject.EMPTY);
        container = Defaults.text(container, "terminationMessagePath", "/dev/termination-log");
        container = Defaults.text(container, "terminationMessagePolicy", "File");
        container = Defaults.text(container, "imagePullPolicy", pullPolicy(container.text("image")));
        return Defaults.each(container, "ports", port -> Defaults.text(port, "protocol", "TCP"));
    }

    /** What may have changed under its name is pulled each time. */
    private static String pullPolicy(String image) {
        String last = image.substring(image.lastIndexOf('/') + 1);
        boolean pinned = last.contains("@") || (last.contains(":") && !last.endsWith(":latest"));
        return pinned ? "IfNotPresent" : "Always";
    }

    @Override
    public List<FieldError> validate(JsonObject pod) {
        List<FieldError> errors = new ArrayList<>();
        JsonObject spec = pod.object("spec");
        containerErrors("spec", spec, errors);
        String restart = spec.text("restartPolicy");
        if (!RESTARTS.contains(restart)) {
            errors.add(FieldError.notSupported(
                    "spec.restartPolicy", "\"" + restart + "\"", "\"Always\", \"OnFailure\", \"Never\""));
        }
        return errors;
    }

    /** What is wrong with the containers of the spec at {@code path}. */
    static void containerErrors(String path, JsonObject spec, List<FieldError> errors) {
        List<JsonObject> containers = spec.array("containers").objects().toList();
        if (containers.isEmpty()) {
            errors.add(FieldError.required(path + ".containers", ""));
        }
        Set<String> names = new HashSet<>();
        for (int i = 0; i < containers.size(); i++) {
            String at = path + ".containers[" + i + "]";
            String name = containers.get(i).text("name");
            if (name.isEmpty()) {
                errors.add(FieldError.required(at + ".name", ""));
            } else if (names.contains(name)) {
                errors.add(FieldError.duplicate(at + ".name", "\"" + name + "\""));
            } else {
                Names.labelFault(name)
                        .ifPresent(fault -> errors.add(FieldError.invalid(at + ".name", "\"" + name + "\"", fault)));
            }
            names.add(name);
            if (containers.get(i).text("image").isEmpty()) {
                errors.add(FieldError.required(at + ".image", ""));
            }
        }
    }

    @Override
    public List<FieldError> validateUpdate(JsonObject pod, JsonObject old) {
        List<FieldError> errors = new ArrayList<>();
        mirrorFault(pod, old)
                .ifPresent(fault -> errors.add(
                        FieldError.forbidden("metadata.annotations[" + NodeGraph.CONFIG_MIRROR + "]", fault)));
        JsonObject spec = pod.object("spec");
        JsonObject before = completedSpec(old.object("spec"));
        if (spec.equals(before)) {
            return errors;
        }
        List<JsonValue> tolerations = spec.array("tolerations").items();
        boolean only = fixed(spec).equals(fixed(before))
                && tolerations.containsAll(before.array("tolerations").items())
                && spec.get("terminationGracePeriodSeconds").equals(before.get("terminationGracePeriodSeconds"));
        if (!only) {
            errors.add(FieldError.forbidden(
                    "spec",
                    "pod updates may not change fields other than `spec.containers[*].image`,"
                            + "`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations`"
                            + " (only additions to existing tolerations),`spec.terminationGracePeriodSeconds`"
                            + " (allow it to be set to 1 if it was previously negative)"));
        }
        return errors;
    }

    /** A pod that a node made up must stay known as one: it may have less than others. */
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

    /** That of a spec which never changes. */
    private static JsonObject fixed(JsonObject spec) {
        JsonObject fixed = spec;
        for (String field : MUTABLE) {
            fixed = fixed.without(field);
        }
        for (String list : List.of("containers", "initContainers")) {
            // What follows from the image is not a change of its own.
            fixed = Defaults.each(fixed, list, container -> container.without("image"));
        }
        return fixed;
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

    /** Whether a pod of this status is ready. */
    static boolean isReady(JsonObject status) {
        return status.array("conditions")
                .objects()
                .anyMatch(condition -> condition.text("type").equals("Ready")
                        && condition.text("status").equals("True"));
    }

    /** The pod with a condition of this type, its last transition included; others of the type go. */
    static JsonObject withCondition(JsonObject pod, JsonObject condition) {
        return pod.update("status", status -> {
            List<JsonValue> kept = status.array("conditions").items().stream()
                    .filter(item -> !(item instanceof JsonObject known
                            && known.text("type").equals(condition.text("type"))))
                    .toList();
            return status.with("conditions", new JsonArray(kept).plus(condition));
        });
    }
}
