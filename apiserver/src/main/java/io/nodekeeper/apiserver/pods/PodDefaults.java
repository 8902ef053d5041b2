package io.nodekeeper.apiserver.pods;

import io.nodekeeper.api.JsonArray;
import io.nodekeeper.api.JsonBool;
import io.nodekeeper.api.JsonNumber;
import io.nodekeeper.api.JsonObject;
import io.nodekeeper.api.JsonString;
import io.nodekeeper.api.JsonValue;
import java.util.Map;
import java.util.function.UnaryOperator;

/** The defaults of pods and of pod templates: Kubernetes' defaulting functions and its admission plugin Priority. */
public final class PodDefaults {
    /** Seconds that a pod has to end (Kubernetes). */
    public static final long GRACE_SECONDS = 30;

    /** The classes that every cluster has (Kubernetes). */
    private static final Map<String, Long> PRIORITIES =
            Map.of("system-cluster-critical", 2_000_000_000L, "system-node-critical", 2_000_001_000L);

    private PodDefaults() {}

    /** The spec of a pod with what it does not say. */
    public static JsonObject podSpec(JsonObject given) {
        JsonObject spec = templateSpec(given);
        spec = each(spec, "containers", PodDefaults::requestsFromLimits);
        spec = each(spec, "initContainers", PodDefaults::requestsFromLimits);
        if (spec.bool("hostNetwork")) {
            spec = each(spec, "containers", PodDefaults::hostPorts);
            spec = each(spec, "initContainers", PodDefaults::hostPorts);
        }
        spec = value(spec, "enableServiceLinks", JsonBool.TRUE);
        spec = value(spec, "priority", JsonNumber.of(PRIORITIES.getOrDefault(spec.text("priorityClassName"), 0L)));
        return text(spec, "preemptionPolicy", "PreemptLowerPriority");
    }

    /** The spec of a pod template with what it does not say. */
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

    /** The old name of the field and the new one always agree; the new one wins. */
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
        container = text(container, "imagePullPolicy", pullPolicy(container.text("image")));
        container = each(container, "ports", port -> text(port, "protocol", "TCP"));
        container = each(container, "env", env -> inside(env, "valueFrom", PodDefaults::fieldSource));
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

    /** What takes a value from a field of the pod: of a variable or of a file. */
    static JsonObject fieldSource(JsonObject source) {
        JsonObject field = inside(source, "fieldRef", reference -> text(reference, "apiVersion", "v1"));
        return inside(field, "resourceFieldRef", reference -> value(reference, "divisor", new JsonString("0")));
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

    /** An image whose tag may move is pulled each time. */
    static String pullPolicy(String image) {
        String last = image.substring(image.lastIndexOf('/') + 1);
        int digest = last.indexOf('@');
        String named = digest < 0 ? last : last.substring(0, digest);
        int colon = named.indexOf(':');
        boolean latest = colon < 0 ? digest < 0 && !named.isEmpty() : named.endsWith(":latest");
        return latest ? "Always" : "IfNotPresent";
    }

    static JsonObject text(JsonObject object, String name, String value) {
        return object.text(name).isEmpty() ? object.with(name, value) : object;
    }

    static JsonObject value(JsonObject object, String name, JsonValue value) {
        return object.has(name) ? object : object.with(name, value);
    }

    /** A number whose zero means that it is not set. */
    static JsonObject number(JsonObject object, String name, long value) {
        return object.number(name).orElse(0L) == 0 && value != 0 ? object.with(name, JsonNumber.of(value)) : object;
    }

    /** {@code object} with the object {@code name} changed, if it has one. */
    static JsonObject inside(JsonObject object, String name, UnaryOperator<JsonObject> change) {
        return object.has(name) ? object.update(name, change) : object;
    }

    /** {@code object} with each object of the list {@code name} changed, if it has one. */
    static JsonObject each(JsonObject object, String name, UnaryOperator<JsonObject> change) {
        if (!object.has(name)) {
            return object;
        }
        return object.with(
                name,
                new JsonArray(object.array(name).items().stream()
                        .<JsonValue>map(item -> item instanceof JsonObject known ? change.apply(known) : item)
                        .toList()));
    }
}
