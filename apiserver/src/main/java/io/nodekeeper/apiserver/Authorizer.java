package io.nodekeeper.apiserver;

import io.nodekeeper.api.ApiException;
import io.nodekeeper.api.JsonObject;
import io.nodekeeper.api.Lease;
import java.util.List;
import java.util.Optional;

/**
 * Decides who may do what: Kubernetes' built-in roles of the clients that there are, nothing more. Immutable.
 *
 * <p>Masters may do all. A node may act on itself: its own Node is guarded by {@link NodeRestriction}, its lease here. The
 * controller may what the node controller's role may. Whoever is known may discover; anybody may ask for health.
 */
final class Authorizer {
    private static final String CONTROLLER = "system:kube-controller-manager";

    /** Allows {@code verbs} on {@code resources} of an API group; {@code namespace} empty for all. */
    private record Rule(String group, List<String> resources, List<String> verbs, String namespace) {
        boolean allows(String verb, RequestInfo.Target target) {
            return group.equals(target.group())
                    && resources.contains(target.qualified())
                    && verbs.contains(verb)
                    && (namespace.isEmpty() || namespace.equals(target.namespace()));
        }
    }

    private static final List<Rule> NODE = List.of(
            new Rule("", List.of("nodes"), List.of("create", "get", "list", "watch", "update", "patch"), ""),
            new Rule("", List.of("nodes/status"), List.of("get", "update", "patch"), ""),
            new Rule("", List.of("pods"), List.of("get", "list", "watch", "create", "delete"), ""),
            new Rule("", List.of("pods/status"), List.of("update", "patch"), ""),
            new Rule("", List.of("events"), List.of("create", "update", "patch"), ""));

    private static final List<Rule> NODE_CONTROLLER = List.of(
            new Rule("", List.of("nodes"), List.of("get", "list", "watch", "update", "delete", "patch"), ""),
            new Rule("", List.of("nodes/status"), List.of("update", "patch"), ""),
            new Rule("", List.of("pods"), List.of("get", "list", "watch", "delete"), ""),
            new Rule("", List.of("pods/status"), List.of("update", "patch"), ""),
            new Rule("", List.of("events"), List.of("create", "update", "patch"), ""),
            new Rule("", List.of("namespaces"), List.of("get", "list", "watch"), ""),
            new Rule("coordination.k8s.io", List.of("leases"), List.of("get", "list", "watch"), ""),
            new Rule(
                    "coordination.k8s.io",
                    List.of("leases"),
                    List.of("create", "update", "patch", "delete"),
                    "kube-system"),
            // Kubernetes' garbage collector deletes leases whose node is gone; here the controller does. It keeps a
            // lease
            // of its own among them, by which it proves that it sees.
            new Rule(
                    "coordination.k8s.io",
                    List.of("leases"),
                    List.of("create", "patch", "delete"),
                    Lease.NODE_NAMESPACE));

    private static final List<String> PUBLIC = List.of("/healthz", "/livez", "/readyz", "/version");
    private static final List<String> DISCOVERY = List.of("/", "/api", "/apis", "/openapi");
    private static final List<String> LEASE_VERBS = List.of("get", "create", "update", "patch", "delete");

    /** Refuses what {@code user} may not do. */
    void check(User user, RequestInfo request) {
        if (user.in(User.MASTERS)) {
            return;
        }
        Optional<RequestInfo.Target> target = request.resource();
        if (target.isEmpty()) {
            if (!mayVisit(user, request)) {
                throw new ApiException(
                        403,
                        "Forbidden",
                        "forbidden: User \"" + user.name() + "\" cannot " + request.verb() + " path \"" + request.path()
                                + "\"");
            }
            return;
        }
        String why = refusal(user, request.verb(), target.get());
        if (!why.equals(ALLOWED)) {
            throw forbidden(user, request.verb(), target.get(), why);
        }
    }

    private static final String ALLOWED = "\0allowed";

    /** {@link #ALLOWED}, or the reason to add to the refusal; often empty. */
    private static String refusal(User user, String verb, RequestInfo.Target target) {
        if (user.in(User.NODES) && user.name().startsWith(User.NODE_PREFIX)) {
            if (target.plural().equals("leases")) {
                return leaseRefusal(user, verb, target);
            }
            return NODE.stream().anyMatch(rule -> rule.allows(verb, target)) ? ALLOWED : "";
        }
        if (user.name().equals(CONTROLLER)) {
            return NODE_CONTROLLER.stream().anyMatch(rule -> rule.allows(verb, target)) ? ALLOWED : "";
        }
        return "";
    }

    private static String leaseRefusal(User user, String verb, RequestInfo.Target target) {
        if (!LEASE_VERBS.contains(verb)) {
            return "can only get, create, update, patch, or delete a node lease";
        }
        if (!target.namespace().equals(Lease.NODE_NAMESPACE)) {
            return "can only access leases in the \"" + Lease.NODE_NAMESPACE + "\" system namespace";
        }
        // A creation's name stands in the body: NodeRestriction looks at it.
        boolean own = target.name().equals(user.name().substring(User.NODE_PREFIX.length()));
        return own || verb.equals("create")
                ? ALLOWED
                : "can only access node lease with the same name as the requesting node";
    }

    private static boolean mayVisit(User user, RequestInfo request) {
        if (!request.verb().equals("get") && !request.verb().equals("head")) {
            return false;
        }
        return below(request.path(), PUBLIC) || (user.in(User.AUTHENTICATED) && below(request.path(), DISCOVERY));
    }

    private static boolean below(String path, List<String> roots) {
        return roots.stream().anyMatch(root -> path.equals(root) || (!root.equals("/") && path.startsWith(root + "/")));
    }

    private static ApiException forbidden(User user, String verb, RequestInfo.Target target, String why) {
        String qualified = target.group().isEmpty() ? target.plural() : target.plural() + "." + target.group();
        String scope = target.namespace().isEmpty()
                ? "at the cluster scope"
                : "in the namespace \"" + target.namespace() + "\"";
        String text = qualified + (target.name().isEmpty() ? "" : " \"" + target.name() + "\"")
                + " is forbidden: User \"" + user.name() + "\" cannot " + verb + " resource \"" + target.qualified()
                + "\" in API group \"" + target.group() + "\" " + scope + (why.isEmpty() ? "" : ": " + why);
        return new ApiException(
                403,
                "Forbidden",
                text,
                JsonObject.builder()
                        .putUnlessEmpty("name", target.name())
                        .putUnlessEmpty("group", target.group())
                        .put("kind", target.plural())
                        .build());
    }
}
