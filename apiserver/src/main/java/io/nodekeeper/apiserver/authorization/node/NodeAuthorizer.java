package io.nodekeeper.apiserver.authorization.node;

import io.nodekeeper.api.Lease;
import io.nodekeeper.apiserver.authorization.rbac.Attributes;
import io.nodekeeper.apiserver.authorization.rbac.AuthorizationDecision;
import io.nodekeeper.apiserver.authorization.rbac.BuiltInRoles;
import io.nodekeeper.apiserver.authorization.rbac.PolicyRule;
import java.util.List;

/**
 * Kubernetes' Node authorizer: decides what a node's agent may do. It checks the node's own lease first, which is the
 * most frequent request. It refuses requests for other nodes' objects if the request shows that; otherwise
 * NodeRestriction does, which sees the object. Thread-safe.
 */
public final class NodeAuthorizer {
    private static final List<String> OWN_VERBS = List.of("get", "create", "update", "patch", "delete");
    private static final List<String> STATUS_VERBS = List.of("update", "patch");
    private static final List<String> READ_VERBS = List.of("get", "list", "watch");

    private final NodeGraph graph;
    private volatile boolean readsOwn = true;

    /** An authorizer that looks up relations in {@code graph}. */
    public NodeAuthorizer(NodeGraph graph) {
        this.graph = graph;
    }

    /** The rules of Kubernetes' role {@code system:node}; the code below narrows them. */
    private static final List<PolicyRule> RULES = BuiltInRoles.rulesOf("system:node");

    /** Whether nodes read only their own Node and pods (by default), or those of all. */
    public void readsOwn(boolean own) {
        readsOwn = own;
    }

    /** Decides for nodes; has no opinion about other users. */
    public AuthorizationDecision decide(Attributes asked) {
        if (!asked.groups().contains(NodeIdentity.GROUP) || !asked.isResource()) {
            return AuthorizationDecision.NOT_KNOWN;
        }
        if (NodeIdentity.node(asked.user(), asked.groups()).isEmpty()) {
            return AuthorizationDecision.because("unknown node for user \"" + asked.user() + "\"");
        }
        return switch (asked.group()) {
            case "coordination.k8s.io" -> asked.resource().equals("leases") ? lease(asked) : byRules(asked);
            case "" ->
                switch (asked.plural()) {
                    case "nodes" -> readsOwn ? node(asked) : byRules(asked);
                    case "pods" -> readsOwn ? pod(asked) : byRules(asked);
                    case "persistentvolumes", "persistentvolumeclaims" -> volume(asked);
                    case "secrets", "configmaps" -> read(asked);
                    case "serviceaccounts" -> token(asked);
                    default -> byRules(asked);
                };
            case "storage.k8s.io" ->
                switch (asked.plural()) {
                    case "csinodes" -> csiNode(asked);
                    case "volumeattachments" -> volumeAttachment(asked);
                    default -> byRules(asked);
                };
            default -> byRules(asked);
        };
    }

    private static AuthorizationDecision byRules(Attributes asked) {
        for (PolicyRule rule : RULES) {
            if (rule.allows(asked)) {
                return AuthorizationDecision.ALLOWED;
            }
        }
        return AuthorizationDecision.NOT_KNOWN;
    }

    /** A node reads its own Node, also as a list or watch of that name. NodeRestriction decides what it may write. */
    private static AuthorizationDecision node(Attributes asked) {
        if (!READ_VERBS.contains(asked.verb()) || !asked.subresource().isEmpty()) {
            return byRules(asked);
        }
        if (isOwn(asked)) {
            return AuthorizationDecision.ALLOWED;
        }
        String node = nodeName(asked);
        return AuthorizationDecision.because(
                asked.name().isEmpty()
                        ? "node '" + node + "' cannot read all nodes, only its own Node object"
                        : "node '" + node + "' cannot read '" + asked.name() + "', only its own Node object");
    }

    /** A node gets the pods that are bound to it, and lists and watches them by their node. */
    private AuthorizationDecision pod(Attributes asked) {
        if (!READ_VERBS.contains(asked.verb()) || !asked.subresource().isEmpty()) {
            return byRules(asked);
        }
        String node = nodeName(asked);
        if (asked.verb().equals("get")) {
            return related(node, graph.hasPod(node, asked.namespace(), asked.name()));
        }
        return node.equals(asked.selected().get("spec.nodeName"))
                ? AuthorizationDecision.ALLOWED
                : AuthorizationDecision.because("can only list/watch pods with spec.nodeName field selector");
    }

    /**
     * A node gets the claims that its pods use, and the volumes that are bound to them. It writes the status of such a claim when it has
     * made a file system larger.
     */
    private AuthorizationDecision volume(Attributes asked) {
        if (asked.resource().equals("persistentvolumeclaims/status")) {
            return STATUS_VERBS.contains(asked.verb())
                    ? related(nodeName(asked), graph.hasClaim(nodeName(asked), asked.namespace(), asked.name()))
                    : AuthorizationDecision.because("can only get/update/patch this type");
        }
        if (!asked.verb().equals("get") || !asked.subresource().isEmpty()) {
            return asked.subresource().isEmpty()
                    ? AuthorizationDecision.because("can only get individual resources of this type")
                    : AuthorizationDecision.because("cannot get subresource");
        }
        String node = nodeName(asked);
        return related(
                node,
                asked.plural().equals("persistentvolumes")
                        ? graph.hasVolume(node, asked.name())
                        : graph.hasClaim(node, asked.namespace(), asked.name()));
    }

    private static AuthorizationDecision lease(Attributes asked) {
        if (!OWN_VERBS.contains(asked.verb())) {
            return AuthorizationDecision.because("can only get, create, update, patch, or delete a node lease");
        }
        if (!asked.namespace().equals(Lease.NODE_NAMESPACE)) {
            return AuthorizationDecision.because(
                    "can only access leases in the \"" + Lease.NODE_NAMESPACE + "\" system namespace");
        }
        // The name of a new object is in the body, which NodeRestriction checks.
        return asked.verb().equals("create") || isOwn(asked)
                ? AuthorizationDecision.ALLOWED
                : AuthorizationDecision.because("can only access node lease with the same name as the requesting node");
    }

    private static boolean isOwn(Attributes asked) {
        return asked.user().length()
                        == NodeIdentity.PREFIX.length() + asked.name().length()
                && asked.user().endsWith(asked.name());
    }

    private static AuthorizationDecision csiNode(Attributes asked) {
        if (!OWN_VERBS.contains(asked.verb())) {
            return AuthorizationDecision.because("can only get, create, update, patch, or delete a CSINode");
        }
        if (!asked.subresource().isEmpty()) {
            return AuthorizationDecision.because("cannot authorize CSINode subresources");
        }
        return asked.verb().equals("create") || isOwn(asked)
                ? AuthorizationDecision.ALLOWED
                : AuthorizationDecision.because("can only access CSINode with the same name as the requesting node");
    }

    private AuthorizationDecision read(Attributes asked) {
        if (!READ_VERBS.contains(asked.verb())) {
            return AuthorizationDecision.because("can only read resources of this type");
        }
        if (!asked.subresource().isEmpty()) {
            return AuthorizationDecision.because("cannot read subresource");
        }
        if (asked.namespace().isEmpty()) {
            return AuthorizationDecision.because("can only read namespaced object of this type");
        }
        if (asked.name().isEmpty()) {
            return AuthorizationDecision.because("No Object name found");
        }
        String node = nodeName(asked);
        return related(
                node,
                asked.plural().equals("secrets")
                        ? graph.hasSecret(node, asked.namespace(), asked.name())
                        : graph.hasConfigMap(node, asked.namespace(), asked.name()));
    }

    private AuthorizationDecision token(Attributes asked) {
        if (!asked.verb().equals("create") || asked.name().isEmpty()) {
            return AuthorizationDecision.because("can only create tokens for individual service accounts");
        }
        if (!asked.subresource().equals("token")) {
            return AuthorizationDecision.because("can only create token subresource of service account");
        }
        String node = nodeName(asked);
        return related(node, graph.hasServiceAccount(node, asked.namespace(), asked.name()));
    }

    private AuthorizationDecision volumeAttachment(Attributes asked) {
        if (!asked.verb().equals("get")) {
            return AuthorizationDecision.because("can only get individual resources of this type");
        }
        if (!asked.subresource().isEmpty()) {
            return AuthorizationDecision.because("cannot get subresource");
        }
        String node = nodeName(asked);
        return related(node, graph.hasVolumeAttachment(node, asked.name()));
    }

    private static String nodeName(Attributes asked) {
        return asked.user().substring(NodeIdentity.PREFIX.length());
    }

    private static AuthorizationDecision related(String node, boolean related) {
        return related
                ? AuthorizationDecision.ALLOWED
                : AuthorizationDecision.because("no relationship found between node '" + node + "' and this object");
    }
}
