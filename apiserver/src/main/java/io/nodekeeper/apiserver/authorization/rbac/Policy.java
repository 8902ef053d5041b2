package io.nodekeeper.apiserver.authorization.rbac;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Kubernetes' role-based access control: a snapshot of all roles and bindings, indexed by subject, so that a decision
 * takes time only for the grants of the user. Immutable.
 */
public final class Policy {
    /**
     * The rules that a binding grants in a namespace, or everywhere if the namespace is empty, and the reason for
     * messages.
     */
    private record Grant(String namespace, List<PolicyRule> rules, AuthorizationDecision allowed) {
        boolean reaches(String place) {
            return namespace.isEmpty() || namespace.equals(place);
        }
    }

    /** The key of a role. Comparable, because hash tables find keys of one hash code slowly unless they have an order. */
    private record RoleKey(String namespace, String name) implements Comparable<RoleKey> {
        private static final Comparator<RoleKey> ORDER =
                Comparator.comparing(RoleKey::name).thenComparing(RoleKey::namespace);

        @Override
        public int compareTo(RoleKey other) {
            return ORDER.compare(this, other);
        }
    }

    private final Map<RoleKey, Role> roles = new HashMap<>();
    private final Map<String, List<Grant>> byUser = new HashMap<>();
    private final Map<String, List<Grant>> byGroup = new HashMap<>();

    private Policy() {}

    /** The policy of these roles and bindings; a binding to a role that does not exist grants nothing. */
    public static Policy of(Collection<Role> roles, Collection<Binding> bindings) {
        Policy policy = new Policy();
        roles.forEach(role -> policy.roles.put(new RoleKey(role.namespace(), role.name()), role));
        bindings.forEach(policy::add);
        return policy;
    }

    private void add(Binding binding) {
        Optional<Role> role = role(binding.roleKind(), binding.namespace(), binding.roleName());
        if (role.isEmpty()) {
            return;
        }
        for (Binding.Subject subject : binding.subjects()) {
            Grant grant = new Grant(
                    binding.namespace(), role.get().rules(), new AuthorizationDecision(true, binding.reason(subject)));
            switch (subject.kind()) {
                case "User" -> put(byUser, subject.name(), grant);
                case "Group" -> put(byGroup, subject.name(), grant);
                case "ServiceAccount" ->
                    put(byUser, Binding.ACCOUNT_PREFIX + subject.namespace() + ":" + subject.name(), grant);
                default -> {
                    // Validation refuses other kinds; one that another server stored grants nothing here.
                }
            }
        }
    }

    private static void put(Map<String, List<Grant>> grants, String whom, Grant grant) {
        grants.computeIfAbsent(whom, none -> new ArrayList<>()).add(grant);
    }

    /** The role of this kind and name, if it exists; ignores {@code namespace} for a ClusterRole. */
    public Optional<Role> role(String kind, String namespace, String name) {
        return Optional.ofNullable(roles.get(new RoleKey(kind.equals("Role") ? namespace : "", name)));
    }

    /** Whether a binding allows the request. */
    public AuthorizationDecision decide(Attributes asked) {
        AuthorizationDecision own = decide(byUser.getOrDefault(asked.user(), List.of()), asked);
        if (own.allowed()) {
            return own;
        }
        for (String group : asked.groups()) {
            AuthorizationDecision common = decide(byGroup.getOrDefault(group, List.of()), asked);
            if (common.allowed()) {
                return common;
            }
        }
        return AuthorizationDecision.NOT_KNOWN;
    }

    private static AuthorizationDecision decide(List<Grant> grants, Attributes asked) {
        for (Grant grant : grants) {
            if (grant.reaches(asked.namespace())) {
                for (PolicyRule rule : grant.rules()) {
                    if (rule.allows(asked)) {
                        return grant.allowed();
                    }
                }
            }
        }
        return AuthorizationDecision.NOT_KNOWN;
    }

    /** All rules that a user has in {@code namespace}; if it is empty, only those of ClusterRoleBindings. */
    public List<PolicyRule> rules(String user, List<String> groups, String namespace) {
        List<PolicyRule> rules = new ArrayList<>();
        collect(byUser.getOrDefault(user, List.of()), namespace, rules);
        groups.forEach(group -> collect(byGroup.getOrDefault(group, List.of()), namespace, rules));
        return rules;
    }

    private static void collect(List<Grant> grants, String namespace, List<PolicyRule> rules) {
        grants.stream().filter(grant -> grant.reaches(namespace)).forEach(grant -> rules.addAll(grant.rules()));
    }
}
