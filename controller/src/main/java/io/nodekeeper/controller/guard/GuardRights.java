package io.nodekeeper.controller.guard;

import io.nodekeeper.api.json.JsonArray;
import io.nodekeeper.api.json.JsonObject;
import java.util.List;

/** The rights that a controller in guard mode needs: it reads, writes events, and keeps its webhook configuration. */
public final class GuardRights {
    private static final String GROUP = "rbac.authorization.k8s.io";

    private GuardRights() {}

    /** A ClusterRole, and its binding to the ServiceAccount {@code name} in {@code namespace}. */
    public static List<JsonObject> of(String namespace, String name) {
        return List.of(role(), binding(namespace, name));
    }

    private static JsonObject role() {
        return object("ClusterRole")
                .put(
                        "rules",
                        JsonArray.of(
                                rule("", List.of("nodes", "pods"), List.of("get", "list", "watch")),
                                rule("coordination.k8s.io", List.of("leases"), List.of("get", "list", "watch")),
                                rule("", List.of("events"), List.of("get", "list", "create", "patch")),
                                rule(Webhook.TYPE.group(), List.of(Webhook.TYPE.plural()), List.of("get", "update"))
                                        .with("resourceNames", JsonArray.ofStrings(List.of(Webhook.NAME)))))
                .build();
    }

    private static JsonObject binding(String namespace, String name) {
        return object("ClusterRoleBinding")
                .put(
                        "roleRef",
                        JsonObject.builder()
                                .put("apiGroup", GROUP)
                                .put("kind", "ClusterRole")
                                .put("name", Webhook.NAME)
                                .build())
                .put(
                        "subjects",
                        JsonArray.of(JsonObject.builder()
                                .put("kind", "ServiceAccount")
                                .put("namespace", namespace)
                                .put("name", name)
                                .build()))
                .build();
    }

    private static JsonObject.Builder object(String kind) {
        return JsonObject.builder()
                .put("apiVersion", GROUP + "/v1")
                .put("kind", kind)
                .put("metadata", JsonObject.EMPTY.with("name", Webhook.NAME));
    }

    private static JsonObject rule(String group, List<String> resources, List<String> verbs) {
        return JsonObject.builder()
                .put("apiGroups", JsonArray.ofStrings(List.of(group)))
                .put("resources", JsonArray.ofStrings(resources))
                .put("verbs", JsonArray.ofStrings(verbs))
                .build();
    }
}
