package io.nodekeeper.controller.guard;

import io.nodekeeper.api.ResourceType;
import io.nodekeeper.api.json.JsonArray;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.api.json.JsonValue;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/**
 * The ValidatingWebhookConfiguration of the guard.
 *
 * @param json the object; empty if it does not exist
 */
public record Webhook(JsonObject json) {
    /** The resource. */
    public static final ResourceType TYPE = new ResourceType(
            "admissionregistration.k8s.io",
            "v1",
            "validatingwebhookconfigurations",
            "ValidatingWebhookConfiguration",
            false);
    /** The name of the object. */
    public static final String NAME = "nodekeeper-guard";
    /** The name of the one webhook in it. */
    private static final String WEBHOOK = "guard.nodekeeper.io";
    /** The annotation that switches the guard off with the value {@value #OFF}. */
    public static final String SWITCH = "nodekeeper.io/guard";
    /** See {@link #SWITCH}. */
    public static final String OFF = "off";
    /** The path of the endpoint. */
    public static final String PATH = "/validate";

    /** Where the API server finds the guard. */
    public sealed interface Target {
        /**
         * A Service.
         *
         * @param port of the Service, not of the pod
         */
        record Service(String namespace, String name, int port) implements Target {}

        /** An address such as {@code https://10.0.0.7:9443}, for a guard outside the cluster. */
        record Address(URI url) implements Target {}
    }

    /**
     * The object to create.
     *
     * @param users whose writes the API server sends
     * @param conditions whether to select them by matchConditions, which Kubernetes has by default since 1.28; without
     *     them the API server sends all writes of these resources, heartbeats of kubelets included
     */
    public static Webhook of(Target target, Set<String> users, boolean conditions) {
        JsonObject.Builder hook = JsonObject.builder()
                .put("name", WEBHOOK)
                .put("admissionReviewVersions", JsonArray.ofStrings(List.of("v1")))
                .put("clientConfig", client(target))
                .put("failurePolicy", "Ignore")
                .put("matchPolicy", "Equivalent")
                .put("sideEffects", "NoneOnDryRun")
                .put("timeoutSeconds", 1)
                .put("rules", JsonArray.of(rule("UPDATE", "nodes", "nodes/status"), rule("DELETE", "pods")));
        if (conditions) {
            hook.put("matchConditions", JsonArray.of(condition(users)));
        }
        return new Webhook(JsonObject.builder()
                .put("apiVersion", TYPE.apiVersion())
                .put("kind", TYPE.kind())
                .put("metadata", JsonObject.EMPTY.with("name", NAME))
                .put("webhooks", JsonArray.of(hook.build()))
                .build());
    }

    private static JsonObject client(Target target) {
        return switch (target) {
            case Target.Service service ->
                JsonObject.EMPTY.with(
                        "service",
                        JsonObject.builder()
                                .put("namespace", service.namespace())
                                .put("name", service.name())
                                .put("port", service.port())
                                .put("path", PATH)
                                .build());
            case Target.Address address ->
                JsonObject.EMPTY.with("url", address.url().resolve(PATH).toString());
        };
    }

    private static JsonObject rule(String operation, String... resources) {
        return JsonObject.builder()
                .put("apiGroups", JsonArray.ofStrings(List.of("")))
                .put("apiVersions", JsonArray.ofStrings(List.of("v1")))
                .put("operations", JsonArray.ofStrings(List.of(operation)))
                .put("resources", JsonArray.ofStrings(List.of(resources)))
                .build();
    }

    /** Users are checked for quotes before; see {@link #isUser}. */
    private static JsonObject condition(Set<String> users) {
        List<String> quoted =
                new TreeSet<>(users).stream().map(user -> "'" + user + "'").toList();
        return JsonObject.builder()
                .put("name", "written-by-the-node-controller")
                .put("expression", "request.userInfo.username in [" + String.join(", ", quoted) + "]")
                .build();
    }

    /** Whether {@code text} may be the name of a user in the configuration. */
    public static boolean isUser(String text) {
        return text.matches("[A-Za-z0-9:@._/-]{1,253}");
    }

    /** Why the operator has switched the guard off; empty if it is on. */
    public Optional<String> off() {
        if (json.isEmpty()) {
            return Optional.of("there is no " + TYPE.kind() + " " + NAME);
        }
        String value = json.object("metadata").object("annotations").text(SWITCH);
        return value.equals(OFF)
                ? Optional.of("the annotation " + SWITCH + " of the " + TYPE.kind() + " is " + OFF)
                : Optional.empty();
    }

    /** The names that the serving certificate needs; empty if there is no webhook. */
    public List<String> serverNames() {
        JsonObject client = hook().object("clientConfig");
        JsonObject service = client.object("service");
        if (!service.text("name").isEmpty()) {
            return List.of(service.text("name") + "." + service.text("namespace") + ".svc");
        }
        try {
            String host = client.text("url").isEmpty()
                    ? null
                    : URI.create(client.text("url")).getHost();
            return host == null ? List.of() : List.of(host.replaceAll("[\\[\\]]", ""));
        } catch (IllegalArgumentException e) {
            return List.of();
        }
    }

    /** The certificates that the API server trusts, base64 of PEM; empty if there are none. */
    public String caBundle() {
        return hook().object("clientConfig").text("caBundle");
    }

    /** The same object with other trusted certificates; unchanged if there is no webhook. */
    public Webhook withCaBundle(String base64) {
        List<JsonValue> hooks = new ArrayList<>();
        json.array("webhooks")
                .objects()
                .map(hook -> hook.text("name").equals(WEBHOOK)
                        ? hook.update("clientConfig", client -> client.with("caBundle", base64))
                        : hook)
                .forEach(hooks::add);
        return new Webhook(json.with("webhooks", new JsonArray(hooks)));
    }

    /** This object as an update of {@code stored}: keeps its trusted certificates, annotations and version. */
    public Webhook over(Webhook stored) {
        Webhook kept = new Webhook(json.with("metadata", stored.json.object("metadata")));
        return stored.caBundle().isEmpty() ? kept : kept.withCaBundle(stored.caBundle());
    }

    private JsonObject hook() {
        return json.array("webhooks")
                .objects()
                .filter(hook -> hook.text("name").equals(WEBHOOK))
                .findFirst()
                .orElse(JsonObject.EMPTY);
    }
}
