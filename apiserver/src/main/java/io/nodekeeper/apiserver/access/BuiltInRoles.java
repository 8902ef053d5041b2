package io.nodekeeper.apiserver.access;

import io.nodekeeper.api.JsonArray;
import io.nodekeeper.api.JsonObject;
import io.nodekeeper.api.JsonValue;
import io.nodekeeper.api.Lease;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/**
 * The roles and bindings that a server has from its first start on: those of Kubernetes that its clients need, for the
 * resources that there are, and what Nodekeeper's own controller needs besides. Facts of Kubernetes, unless it is said.
 */
public final class BuiltInRoles {
    /** Whether the server may add what an object of its own lacks: unless this is {@code false}, it does at each start. */
    public static final String AUTO_UPDATE = "rbac.authorization.kubernetes.io/autoupdate";

    private static final String API_GROUP = "rbac.authorization.k8s.io";
    private static final String AUTHENTICATED = "system:authenticated";
    private static final String CONTROLLER = "system:kube-controller-manager";
    private static final String NODE_CONTROLLER = "system:controller:node-controller";
    /** What Nodekeeper's controller needs beyond Kubernetes' roles. */
    private static final String OWN_CONTROLLER = "nodekeeper:controller";

    private static final String READ = "get list watch";
    private static final String WRITE = "create delete deletecollection patch update";

    private BuiltInRoles() {}

    /** The ClusterRoles. */
    public static List<JsonObject> clusterRoles() {
        return List.of(
                clusterRole("cluster-admin", rule("*", "*", "*"), paths("*", "*")),
                clusterRole(
                        "system:discovery",
                        paths(
                                "get",
                                "/api /api/* /apis /apis/* /healthz /livez /openapi /openapi/* /readyz /version"
                                        + " /version/")),
                clusterRole("system:public-info-viewer", paths("get", "/healthz /livez /readyz /version /version/")),
                clusterRole(
                        "system:basic-user",
                        rule("authorization.k8s.io", "selfsubjectaccessreviews selfsubjectrulesreviews", "create"),
                        rule("authentication.k8s.io", "selfsubjectreviews", "create")),
                clusterRole(
                        "system:monitoring",
                        paths("get", "/healthz /healthz/* /livez /livez/* /metrics /metrics/slis /readyz /readyz/*")),
                clusterRole(
                        "system:service-account-issuer-discovery",
                        paths(
                                "get",
                                "/.well-known/openid-configuration /.well-known/openid-configuration/ /openid/v1/jwks"
                                        + " /openid/v1/jwks/")),
                clusterRole(
                        "system:auth-delegator",
                        rule("authentication.k8s.io", "tokenreviews", "create"),
                        rule("authorization.k8s.io", "subjectaccessreviews", "create")),
                // Nobody is bound to it: the Node authorizer knows what belongs to which node, a role does not.
                clusterRole("system:node", NodeAuthorizer.RULES.toArray(Rule[]::new)),
                clusterRole(
                        CONTROLLER,
                        rule("", "events", "create patch update"),
                        rule("events.k8s.io", "events", "create patch update"),
                        rule("coordination.k8s.io", "leases", "create"),
                        named("coordination.k8s.io", "leases", "get update", "kube-controller-manager"),
                        rule("", "secrets serviceaccounts", "create"),
                        rule("", "secrets", "delete"),
                        rule("", "configmaps namespaces secrets serviceaccounts", "get"),
                        rule("", "secrets serviceaccounts", "update"),
                        rule("authentication.k8s.io", "tokenreviews", "create"),
                        rule("authorization.k8s.io", "subjectaccessreviews", "create"),
                        rule("*", "*", "list watch"),
                        rule("", "serviceaccounts/token", "create")),
                clusterRole(
                        NODE_CONTROLLER,
                        rule("", "nodes", "get list update delete patch"),
                        rule("", "nodes/status", "patch update"),
                        rule("", "pods/status", "patch update"),
                        rule("", "pods", "list get delete"),
                        rule("", "events", "create patch update"),
                        rule("events.k8s.io", "events", "create patch update")),
                clusterRole("view", view()),
                clusterRole("edit", edit()),
                clusterRole("admin", admin()));
    }

    /** The ClusterRoleBindings. */
    public static List<JsonObject> clusterRoleBindings() {
        return List.of(
                binding("cluster-admin", "ClusterRole", "cluster-admin", subject("Group", "system:masters")),
                binding("system:discovery", "ClusterRole", "system:discovery", subject("Group", AUTHENTICATED)),
                binding("system:basic-user", "ClusterRole", "system:basic-user", subject("Group", AUTHENTICATED)),
                binding(
                        "system:public-info-viewer",
                        "ClusterRole",
                        "system:public-info-viewer",
                        subject("Group", AUTHENTICATED),
                        subject("Group", "system:unauthenticated")),
                binding("system:monitoring", "ClusterRole", "system:monitoring", subject("Group", "system:monitoring")),
                binding(
                        "system:service-account-issuer-discovery",
                        "ClusterRole",
                        "system:service-account-issuer-discovery",
                        subject("Group", "system:serviceaccounts")),
                binding(CONTROLLER, "ClusterRole", CONTROLLER, subject("User", CONTROLLER)),
                binding(
                        NODE_CONTROLLER,
                        "ClusterRole",
                        NODE_CONTROLLER,
                        JsonObject.builder()
                                .put("kind", "ServiceAccount")
                                .put("name", "node-controller")
                                .put("namespace", "kube-system")
                                .build()),
                // Nodekeeper's controller acts under its own name, not as a service account.
                binding(OWN_CONTROLLER, "ClusterRole", NODE_CONTROLLER, subject("User", CONTROLLER)));
    }

    /** The Roles, in their namespaces. */
    public static List<JsonObject> roles() {
        return List.of(
                // The locks of elections.
                role(
                        "kube-system",
                        OWN_CONTROLLER,
                        rule("coordination.k8s.io", "leases", "get create update patch delete")),
                // Kubernetes' garbage collector deletes leases whose node is gone; here the controller does. It keeps
                // a lease of its own among them, by which it proves that it sees.
                role(
                        Lease.NODE_NAMESPACE,
                        OWN_CONTROLLER,
                        rule("coordination.k8s.io", "leases", "get create patch delete")));
    }

    /** The RoleBindings, in their namespaces. */
    public static List<JsonObject> roleBindings() {
        return Stream.of("kube-system", Lease.NODE_NAMESPACE)
                .map(namespace -> binding(OWN_CONTROLLER, "Role", OWN_CONTROLLER, subject("User", CONTROLLER))
                        .update("metadata", metadata -> metadata.with("namespace", namespace)))
                .toList();
    }

    private static Rule[] view() {
        return new Rule[] {
            rule("", "configmaps pods serviceaccounts services", READ),
            rule("", "events namespaces namespaces/status pods/status services/status", READ),
            rule("apps", "daemonsets daemonsets/status", READ),
            rule("policy", "poddisruptionbudgets poddisruptionbudgets/status", READ)
        };
    }

    private static Rule[] edit() {
        return plus(
                view(),
                rule("", "secrets", READ),
                rule("", "serviceaccounts", "impersonate"),
                rule("", "pods configmaps secrets serviceaccounts services", WRITE),
                rule("", "pods/eviction serviceaccounts/token", "create"),
                rule("", "events", WRITE),
                rule("coordination.k8s.io", "leases", READ + " " + WRITE),
                rule("apps", "daemonsets", WRITE),
                rule("policy", "poddisruptionbudgets", WRITE));
    }

    private static Rule[] admin() {
        return plus(
                edit(),
                rule("authorization.k8s.io", "localsubjectaccessreviews", "create"),
                rule(API_GROUP, "roles rolebindings", READ + " " + WRITE));
    }

    private static Rule[] plus(Rule[] rules, Rule... more) {
        return Stream.of(rules, more).flatMap(Stream::of).toArray(Rule[]::new);
    }

    /** A rule about resources; words are separated by spaces. */
    static Rule rule(String group, String resources, String verbs) {
        return new Rule(words(verbs), List.of(group), words(resources), List.of(), List.of());
    }

    private static Rule named(String group, String resources, String verbs, String name) {
        return new Rule(words(verbs), List.of(group), words(resources), List.of(name), List.of());
    }

    private static Rule paths(String verbs, String paths) {
        return new Rule(words(verbs), List.of(), List.of(), List.of(), words(paths));
    }

    private static List<String> words(String text) {
        return List.of(text.split(" "));
    }

    private static JsonObject clusterRole(String name, Rule... rules) {
        return named(name).with("rules", rules(rules));
    }

    private static JsonObject role(String namespace, String name, Rule... rules) {
        return clusterRole(name, rules).update("metadata", metadata -> metadata.with("namespace", namespace));
    }

    private static JsonArray rules(Rule... rules) {
        List<JsonValue> json = new ArrayList<>();
        for (Rule rule : rules) {
            json.add(rule.json());
        }
        return new JsonArray(json);
    }

    private static JsonObject binding(String name, String roleKind, String role, JsonObject... subjects) {
        return named(name)
                .with("subjects", JsonArray.of(subjects))
                .with(
                        "roleRef",
                        JsonObject.builder()
                                .put("apiGroup", API_GROUP)
                                .put("kind", roleKind)
                                .put("name", role)
                                .build());
    }

    private static JsonObject subject(String kind, String name) {
        return JsonObject.builder()
                .put("kind", kind)
                .put("apiGroup", API_GROUP)
                .put("name", name)
                .build();
    }

    private static JsonObject named(String name) {
        return JsonObject.builder()
                .put(
                        "metadata",
                        JsonObject.builder()
                                .put("name", name)
                                .put(
                                        "labels",
                                        JsonObject.builder()
                                                .put("kubernetes.io/bootstrapping", "rbac-defaults")
                                                .build())
                                .put(
                                        "annotations",
                                        JsonObject.builder()
                                                .put(AUTO_UPDATE, "true")
                                                .build())
                                .build())
                .build();
    }
}
