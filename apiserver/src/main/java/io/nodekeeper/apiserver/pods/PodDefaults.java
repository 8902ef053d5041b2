package io.nodekeeper.apiserver.pods;

import static io.nodekeeper.apiserver.fields.ObjectFields.each;
import static io.nodekeeper.apiserver.fields.ObjectFields.inside;
import static io.nodekeeper.apiserver.fields.ObjectFields.number;
import static io.nodekeeper.apiserver.fields.ObjectFields.text;
import static io.nodekeeper.apiserver.fields.ObjectFields.value;

import io.nodekeeper.api.json.JsonBool;
import io.nodekeeper.api.json.JsonNumber;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.api.json.JsonString;
import io.nodekeeper.apiserver.pods.validation.ProbeRules;

/** Kubernetes' defaults of pods and pod templates. */
public final class PodDefaults {
    /** Kubernetes' default grace period for the termination of a pod, in seconds. */
    public static final long GRACE_SECONDS = 30;

    private PodDefaults() {}

    /** The spec of a pod with its defaults. */
    public static JsonObject podSpec(JsonObject given) {
        // Pod-level resources are an alpha feature that is off in 1.32, so the field is dropped.
        JsonObject spec = templateSpec(given).without("resources");
        spec = each(spec, "containers", PodDefaults::requestsFromLimits);
        spec = each(spec, "initContainers", PodDefaults::requestsFromLimits);
        if (spec.bool("hostNetwork")) {
            spec = each(spec, "containers", PodDefaults::hostPorts);
            spec = each(spec, "initContainers", PodDefaults::hostPorts);
        }
        spec = value(spec, "enableServiceLinks", JsonBool.TRUE);
        spec = value(spec, "priority", JsonNumber.of(0));
        return text(spec, "preemptionPolicy", "PreemptLowerPriority");
    }

    /** The spec of a pod template with its defaults. */
    public static JsonObject templateSpec(JsonObject given) {
        JsonObject spec = text(given, "restartPolicy", "Always");
        spec = text(spec, "dnsPolicy", "ClusterFirst");
        spec = text(spec, "schedulerName", "default-scheduler");
        spec = value(spec, "terminationGracePeriodSeconds", JsonNumber.of(GRACE_SECONDS));
        spec = value(spec, "securityContext", JsonObject.EMPTY);
        spec = serviceAccount(spec);
        spec = each(spec, "volumes", VolumeDefaults::volume);
        spec = each(spec, "initContainers", PodDefaults::container);
        spec = each(spec, "containers", PodDefaults::container);
        return each(spec, "ephemeralContainers", PodDefaults::container);
    }

    /** Sets serviceAccountName and the deprecated serviceAccount to the same value; the former takes precedence. */
    static JsonObject serviceAccount(JsonObject spec) {
        String name = spec.text("serviceAccountName").isEmpty()
                ? spec.text("serviceAccount")
                : spec.text("serviceAccountName");
        return name.isEmpty() ? spec : spec.with("serviceAccountName", name).with("serviceAccount", name);
    }

    private static JsonObject container(JsonObject given) {
        JsonObject container = value(given, "resources", JsonObject.EMPTY);
        container = text(container, "terminationMessagePath", "/dev/termination-log");
        container = text(container, "terminationMessagePolicy", "File");
        container = text(container, "imagePullPolicy", SharedDefaults.pullPolicy(container.text("image")));
        container = each(container, "ports", port -> text(port, "protocol", "TCP"));
        container = each(container, "env", env -> inside(env, "valueFrom", SharedDefaults::fieldSource));
        for (String probe : ProbeRules.PROBES) {
            container = inside(container, probe, PodDefaults::probe);
        }
        return inside(
                container,
                "lifecycle",
                lifecycle ->
                        inside(inside(lifecycle, "postStart", PodDefaults::handler), "preStop", PodDefaults::handler));
    }

    private static JsonObject probe(JsonObject given) {
        JsonObject probe = number(handler(given), "timeoutSeconds", 1);
        probe = number(probe, "periodSeconds", 10);
        probe = number(probe, "successThreshold", 1);
        probe = number(probe, "failureThreshold", 3);
        return inside(probe, "grpc", grpc -> value(grpc, "service", new JsonString("")));
    }

    private static JsonObject handler(JsonObject given) {
        return inside(given, "httpGet", get -> text(text(get, "path", "/"), "scheme", "HTTP"));
    }

    private static JsonObject requestsFromLimits(JsonObject container) {
        JsonObject limits = container.object("resources").object("limits");
        return limits.isEmpty()
                ? container
                : container.update(
                        "resources",
                        resources -> resources.update("requests", requests -> {
                            JsonObject.Builder all = requests.toBuilder();
                            limits.fields().forEach((name, amount) -> {
                                if (!requests.has(name)) {
                                    all.put(name, amount);
                                }
                            });
                            return all.build();
                        }));
    }

    private static JsonObject hostPorts(JsonObject container) {
        return each(
                container,
                "ports",
                port -> number(port, "hostPort", port.number("containerPort").orElse(0L)));
    }
}
