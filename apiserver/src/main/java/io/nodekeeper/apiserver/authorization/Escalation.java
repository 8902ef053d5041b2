package io.nodekeeper.apiserver.authorization;

import io.nodekeeper.api.ApiException;
import io.nodekeeper.api.ResourceType;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.apiserver.authorization.rbac.Aggregation;
import io.nodekeeper.apiserver.authorization.rbac.Attributes;
import io.nodekeeper.apiserver.authorization.rbac.Binding;
import io.nodekeeper.apiserver.authorization.rbac.PolicyRule;
import io.nodekeeper.apiserver.authorization.rbac.Role;
import io.nodekeeper.apiserver.catalogue.AccessResources;
import io.nodekeeper.apiserver.registry.Resource;
import io.nodekeeper.apiserver.request.RequestTarget;
import io.nodekeeper.apiserver.request.User;
import java.util.List;
import java.util.TreeSet;

/**
 * Prevents privilege escalation as Kubernetes does: a role may contain, and a binding may grant, only rights of its
 * writer, unless the writer has the verb {@code escalate} on the role or {@code bind} on the referenced role. Also
 * refuses updates and applies that create an object without the right to create it. Thread-safe.
 */
public final class Escalation {
    /** The rights of system:masters as rules. */
    public static final List<PolicyRule> EVERYTHING = List.of(
            new PolicyRule(List.of("*"), List.of("*"), List.of("*"), List.of(), List.of()),
            new PolicyRule(List.of("*"), List.of(), List.of(), List.of(), List.of("*")));

    private final AccessState state;
    private final Authorizer authorizer;

    public Escalation(AccessState state, Authorizer authorizer) {
        this.state = state;
        this.authorizer = authorizer;
    }

    /** Refuses an update or apply that creates its object ({@code old} is empty) to users without the right to create. */
    public void checkCreation(User user, RequestTarget target, JsonObject old) {
        // A create request has no name, and was already authorized for create.
        if (old.isEmpty() && !target.name().isEmpty()) {
            authorizer.check(Attributes.ofResource(
                    user.name(),
                    user.groups(),
                    "create",
                    target.group(),
                    target.qualified(),
                    target.namespace(),
                    target.name()));
        }
    }

    /** Refuses a write of a role or binding that grants too much; {@code old} is empty for a creation. */
    public void check(User user, Resource resource, JsonObject old, JsonObject next) {
        if (!AccessResources.STORED.contains(resource) || user.in(User.MASTERS)) {
            return;
        }
        if (AccessResources.isRole(resource)) {
            checkRole(user, resource, old, next);
        } else {
            checkBinding(user, resource, old, next);
        }
    }

    private void checkRole(User user, Resource resource, JsonObject old, JsonObject next) {
        JsonObject metadata = next.object("metadata");
        if (changesOwnersOnly(old, next)
                || may(user, "escalate", resource, metadata.text("namespace"), metadata.text("name"))) {
            return;
        }
        boolean aggregates = Aggregation.isAggregated(next) || Aggregation.isAggregated(old);
        if (aggregates && !missing(user, "", EVERYTHING).isEmpty()) {
            throw ApiException.forbidden(
                    resource.type(),
                    metadata.text("name"),
                    "must have cluster-admin privileges to use an aggregationRule");
        }
        confirm(user, resource, next, PolicyRule.listOf(next));
    }

    private void checkBinding(User user, Resource resource, JsonObject old, JsonObject next) {
        if (changesOwnersOnly(old, next)) {
            return;
        }
        Binding binding = Binding.of(next);
        boolean local = binding.roleKind().equals("Role");
        Resource roles = local ? AccessResources.ROLES : AccessResources.CLUSTER_ROLES;
        if (may(user, "bind", roles, binding.namespace(), binding.roleName())) {
            return;
        }
        Role role = state.policy()
                .role(binding.roleKind(), binding.namespace(), binding.roleName())
                .orElseThrow(() -> ApiException.notFound(roles.type(), binding.roleName()));
        confirm(user, resource, next, role.rules());
    }

    /**
     * Whether {@code next} differs from {@code old} only in fields that garbage collection changes. Kubernetes checks
     * every other write, even of a label, because a label may make a role part of another.
     */
    private static boolean changesOwnersOnly(JsonObject old, JsonObject next) {
        return !old.isEmpty() && withoutOwners(old).equals(withoutOwners(next));
    }

    private static JsonObject withoutOwners(JsonObject object) {
        return object.update(
                "metadata",
                metadata -> metadata.without("ownerReferences")
                        .without("finalizers")
                        .without("managedFields")
                        .without("resourceVersion"));
    }

    private boolean may(User user, String verb, Resource resource, String namespace, String name) {
        ResourceType type = resource.type();
        return authorizer
                .decide(Attributes.ofResource(
                        user.name(), user.groups(), verb, type.group(), type.plural(), namespace, name))
                .allowed();
    }

    private List<PolicyRule> missing(User user, String namespace, List<PolicyRule> wanted) {
        return PolicyRule.missing(state.policy().rules(user.name(), user.groups(), namespace), wanted);
    }

    private void confirm(User user, Resource resource, JsonObject object, List<PolicyRule> wanted) {
        JsonObject metadata = object.object("metadata");
        List<PolicyRule> missing = missing(user, metadata.text("namespace"), wanted);
        if (!missing.isEmpty()) {
            TreeSet<String> lines = new TreeSet<>();
            missing.forEach(rule -> lines.add(rule.toString()));
            throw ApiException.forbidden(
                    resource.type(),
                    metadata.text("name"),
                    "user \"" + user.name() + "\" (groups=" + PolicyRule.quoted(user.groups())
                            + ") is attempting to grant RBAC permissions not currently held:\n"
                            + String.join("\n", lines));
        }
    }
}
