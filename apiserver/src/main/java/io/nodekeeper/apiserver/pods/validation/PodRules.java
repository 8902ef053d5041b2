package io.nodekeeper.apiserver.pods.validation;

import io.nodekeeper.api.FieldError;
import io.nodekeeper.api.Names;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.apiserver.fields.FieldCheck;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Validates pods and pod templates after type checks and defaulting. Returns all errors at once, in Kubernetes' order
 * and words. The time is linear in the size of the pod.
 */
public final class PodRules {
    /**
     * The most {@code matchLabelKeys} and {@code mismatchLabelKeys} of all terms of a pod's affinity. Each is merged into a selector with
     * a label's value, so some bytes in a request would become hundreds. Kubernetes has no limit of its own.
     */
    public static final int MOST_LABEL_KEYS = 1_000;

    private static final List<String> RESTARTS = List.of("Always", "OnFailure", "Never");
    private static final List<String> PREEMPTION = List.of("PreemptLowerPriority", "Never");
    private static final String MIRROR = "kubernetes.io/config.mirror";

    private PodRules() {}

    /** How many {@code matchLabelKeys} and {@code mismatchLabelKeys} all terms of a pod's affinity have. */
    public static long labelKeys(JsonObject affinity) {
        return SchedulingRules.labelKeys(affinity);
    }

    /** The errors in a pod. */
    public static List<FieldError> pod(JsonObject pod) {
        FieldCheck check = FieldCheck.of(pod, "");
        FieldCheck metadata = check.object("metadata");
        FieldCheck spec = check.object("spec");
        JsonObject annotations = metadata.value().object("annotations");
        if (annotations.has(MIRROR) && spec.text("nodeName").isEmpty()) {
            metadata.invalid(
                    "annotations[" + MIRROR + "]",
                    annotations.text(MIRROR),
                    "must set spec.nodeName if mirror pod annotation is set");
        }
        spec(spec, metadata.text("name"), true);
        for (String list : List.of("containers", "initContainers")) {
            for (FieldCheck container : spec.items(list)) {
                String image = container.text("image");
                if (!image.strip().equals(image)) {
                    container.invalid("image", "must not have leading or trailing whitespace");
                }
            }
        }
        return check.errors();
    }

    /** The errors that only a new pod can have. */
    public static List<FieldError> newPod(JsonObject pod) {
        FieldCheck check = FieldCheck.of(pod, "");
        FieldCheck spec = check.object("spec");
        AppArmor.annotations(check.object("metadata"), spec);
        if (!spec.value().array("ephemeralContainers").isEmpty()) {
            spec.forbidden("ephemeralContainers", "cannot be set on create");
        }
        spec.notNegative("terminationGracePeriodSeconds");
        if (!spec.value().array("schedulingGates").isEmpty()
                && !spec.text("nodeName").isEmpty()) {
            spec.forbidden("nodeName", "cannot be set until all schedulingGates have been cleared");
        }
        return spec.errors();
    }

    /** The errors in a pod template; {@code path} is the path of its field. */
    public static List<FieldError> template(JsonObject template, String path) {
        FieldCheck check = FieldCheck.of(template, path);
        FieldCheck metadata = check.object("metadata");
        metadata.value().object("labels").texts().forEach((key, value) -> {
            check.form("labels", key, Names::qualifiedFault);
            check.form("labels", value, Names::labelValueFault);
        });
        metadata.value()
                .object("annotations")
                .fields()
                .keySet()
                .forEach(key -> check.form("annotations", key, Names::annotationFault));
        AppArmor.annotations(metadata, check.object("spec"));
        spec(check.object("spec"), "", false);
        check.object("spec").notNegative("terminationGracePeriodSeconds");
        if (!check.value().object("spec").array("ephemeralContainers").isEmpty()) {
            check.object("spec").forbidden("ephemeralContainers", "ephemeral containers not allowed in pod template");
        }
        return check.errors();
    }

    private static void spec(FieldCheck spec, String podName, boolean isPod) {
        Map<String, JsonObject> volumes = VolumeRules.check(spec, podName);
        new ContainerRules(spec, volumes, claims(spec)).check();
        spec.oneOf("restartPolicy", RESTARTS);
        NetworkRules.check(spec, isPod);
        SecurityRules.pod(spec);
        WindowsRules.check(spec);
        SchedulingRules.check(spec);
        for (FieldCheck gate : spec.items("readinessGates")) {
            gate.form("conditionType", Names::qualifiedFault);
        }
        for (String name : List.of("serviceAccountName", "nodeName", "priorityClassName", "runtimeClassName")) {
            spec.formIfSet(name, Names::subdomainFault);
        }
        spec.range("activeDeadlineSeconds", 1, Integer.MAX_VALUE);
        spec.oneOfIfSet("preemptionPolicy", PREEMPTION);
        ResourceRules.overhead(spec);
        if (spec.has("os")) {
            spec.object("os").oneOf("name", List.of("linux", "windows"));
        }
    }

    /** Checks the pod's resource claims, and returns their names. */
    private static Set<String> claims(FieldCheck spec) {
        Set<String> names = new HashSet<>();
        for (FieldCheck claim : spec.items("resourceClaims")) {
            String name = claim.text("name");
            claim.requiredLabel("name");
            if (!name.isEmpty() && !names.add(name)) {
                claim.duplicate("name", name);
            }
            boolean claimed = claim.has("resourceClaimName");
            boolean template = claim.has("resourceClaimTemplateName");
            if (claimed && template) {
                claim.invalid("", "at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified");
            }
            if (!claimed && !template) {
                claim.invalid("", "must specify one of: `resourceClaimName`, `resourceClaimTemplateName`");
            }
            claim.formIfSet("resourceClaimName", Names::subdomainFault);
            claim.formIfSet("resourceClaimTemplateName", Names::subdomainFault);
        }
        return names;
    }
}
