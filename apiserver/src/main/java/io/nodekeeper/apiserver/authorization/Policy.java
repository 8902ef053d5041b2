package io.nodekeeper.apiserver.authorization;

import io.nodekeeper.api.json.JsonMemory;
import io.nodekeeper.apiserver.authorization.rbac.Attributes;
import io.nodekeeper.apiserver.authorization.rbac.AuthorizationDecision;
import io.nodekeeper.apiserver.authorization.rbac.Binding;
import io.nodekeeper.apiserver.authorization.rbac.PolicyRule;
import io.nodekeeper.apiserver.authorization.rbac.Role;
import java.util.Arrays;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Kubernetes' role-based access control: all roles, and all bindings by whom they name and where. A decision takes time only for the
 * grants of the user where the request goes; a change takes time only for the size of the role or binding. One thread changes it, any
 * thread may read; a reader may see a part of a change.
 */
public final class Policy {
    /** How often the policy has a name: in the role or the reason of the grant, and in a key. */
    private static final int COPIES = 2;

    /** Bytes of memory of a binding, and of each of its subjects, besides names. */
    private static final int BINDING = 400;

    private static final int SUBJECT = 150;
    /** Bytes of memory of a role besides its name, of each of its rules, and of each text in a rule besides its characters. */
    private static final int ROLE = 200;

    private static final int RULE = 200;
    private static final int TEXT = 60;

    /** The key of a role. Comparable, because hash tables find keys of one hash code slowly unless they have an order. */
    private record RoleKey(String namespace, String name) implements Comparable<RoleKey> {
        private static final Comparator<RoleKey> ORDER =
                Comparator.comparing(RoleKey::name).thenComparing(RoleKey::namespace);

        @Override
        public int compareTo(RoleKey other) {
            return ORDER.compare(this, other);
        }
    }

    /** Whom a binding names. */
    private enum Kind {
        USER("User"),
        GROUP("Group"),
        ACCOUNT("ServiceAccount");

        private final String text;

        Kind(String text) {
            this.text = text;
        }
    }

    /**
     * A subject by the name that requests have, and the namespace in which bindings reach it; empty for everywhere. Comparable for the
     * same reason.
     */
    private record Whom(Kind kind, String name, String namespace) implements Comparable<Whom> {
        private static final Comparator<Whom> ORDER =
                Comparator.comparing(Whom::name).thenComparing(Whom::namespace).thenComparing(Whom::kind);

        @Override
        public int compareTo(Whom other) {
            return ORDER.compare(this, other);
        }

        /** The subject; empty if it is of another kind: validation refuses these, and one that another server stored grants nothing. */
        private static Optional<Whom> of(Binding.Subject subject, String namespace) {
            return Arrays.stream(Kind.values())
                    .filter(kind -> kind.text.equals(subject.kind()))
                    .map(kind -> new Whom(
                            kind,
                            kind == Kind.ACCOUNT
                                    ? Binding.ACCOUNT_PREFIX + subject.namespace() + ":" + subject.name()
                                    : subject.name(),
                            namespace))
                    .findFirst();
        }

        private AuthorizationDecision allowed(Grant grant) {
            String who = kind == Kind.ACCOUNT ? account() : name;
            return new AuthorizationDecision(true, grant.reason() + " to " + kind.text + " \"" + who + "\"");
        }

        /** A service account as Kubernetes' messages have it: {@code name/namespace}. */
        private String account() {
            String rest = name.substring(Binding.ACCOUNT_PREFIX.length());
            int colon = rest.indexOf(':');
            return rest.substring(colon + 1) + "/" + rest.substring(0, colon);
        }
    }

    /**
     * What the binding at {@code key} grants to all its subjects. There may be many thousands of subjects, so each has nothing of its own
     * but its {@link Whom}.
     *
     * @param place the namespace of the binding; empty for a binding of the whole cluster
     * @param reason of a decision to allow a request, without the subject
     */
    private record Grant(String key, String place, String reason, RoleKey role, List<Whom> subjects) {}

    /** By their keys in the store; used only by the thread that changes the policy. */
    private final Map<String, Role> rolesByKey = new HashMap<>();

    private final Map<String, Grant> grantsByKey = new HashMap<>();

    private final Map<RoleKey, Role> roles = new ConcurrentHashMap<>();
    /** Nearly all lists have one grant, so each change makes a new list. */
    private final Map<Whom, List<Grant>> grants = new ConcurrentHashMap<>();

    private final AtomicLong bytes = new AtomicLong();
    /** The part of each namespace that has roles or bindings. */
    private final Map<String, Long> bytesOf = new ConcurrentHashMap<>();

    /** The policy of these roles and bindings; a binding to a role that does not exist grants nothing. */
    public static Policy of(Collection<Role> roles, Collection<Binding> bindings) {
        Policy policy = new Policy();
        roles.forEach(role -> policy.put("role " + role.namespace() + "/" + role.name(), role));
        bindings.forEach(binding -> policy.put("binding " + binding.namespace() + "/" + binding.name(), binding));
        return policy;
    }

    /** Adds or replaces the role at {@code key} of the store. */
    public void put(String key, Role role) {
        Role before = rolesByKey.put(key, role);
        roles.put(new RoleKey(role.namespace(), role.name()), role);
        count(role.namespace(), bytes(role) - (before == null ? 0 : bytes(before)));
    }

    /** Adds or replaces the binding at {@code key} of the store. Who has a right before and after the change has it meanwhile. */
    public void put(String key, Binding binding) {
        String place = binding.namespace();
        TreeSet<Whom> named = binding.subjects().stream()
                .flatMap(subject -> Whom.of(subject, place).stream())
                .collect(Collectors.toCollection(TreeSet::new));
        RoleKey role = new RoleKey(binding.roleKind().equals("Role") ? place : "", binding.roleName());
        Grant grant = new Grant(key, place, binding.reason(), role, List.copyOf(named));
        // One list for all who have no other grant.
        List<Grant> alone = List.of(grant);
        named.forEach(whom -> grants.merge(whom, alone, (before, same) -> with(before, grant)));
        Grant before = grantsByKey.put(key, grant);
        if (before != null) {
            before.subjects().stream().filter(whom -> !named.contains(whom)).forEach(whom -> revoke(key, whom));
        }
        count(place, bytes(grant) - (before == null ? 0 : bytes(before)));
    }

    private void count(String namespace, long more) {
        bytes.addAndGet(more);
        if (!namespace.isEmpty()) {
            bytesOf.merge(namespace, more, (known, other) -> known + other == 0 ? null : known + other);
        }
    }

    /** Removes the role or binding at {@code key}, if there is one. */
    public void remove(String key) {
        Role role = rolesByKey.remove(key);
        if (role != null) {
            roles.remove(new RoleKey(role.namespace(), role.name()));
            count(role.namespace(), -bytes(role));
        }
        Grant grant = grantsByKey.remove(key);
        if (grant != null) {
            grant.subjects().forEach(whom -> revoke(key, whom));
            count(grant.place(), -bytes(grant));
        }
    }

    /** Removes the roles and bindings at these keys. */
    public void removeIf(Predicate<String> key) {
        List.copyOf(rolesByKey.keySet()).stream().filter(key).forEach(this::remove);
        List.copyOf(grantsByKey.keySet()).stream().filter(key).forEach(this::remove);
    }

    private static List<Grant> with(List<Grant> grants, Grant grant) {
        return Stream.concat(without(grants, grant.key()), Stream.of(grant)).toList();
    }

    private static Stream<Grant> without(List<Grant> grants, String key) {
        return grants.stream().filter(grant -> !grant.key().equals(key));
    }

    private void revoke(String key, Whom whom) {
        grants.computeIfPresent(whom, (same, before) -> {
            List<Grant> left = without(before, key).toList();
            return left.isEmpty() ? null : left;
        });
    }

    /** Whether there are neither roles nor bindings. */
    public boolean isEmpty() {
        return bytes.get() == 0;
    }

    /** About how many bytes of memory the roles and bindings take. */
    public long bytes() {
        return bytes.get();
    }

    /** About how many bytes of memory the roles and bindings of {@code namespace} take. */
    public long bytes(String namespace) {
        return bytesOf.getOrDefault(namespace, 0L);
    }

    /** About how many bytes of memory {@code role} takes. */
    public static long bytes(Role role) {
        return ROLE
                + COPIES * (JsonMemory.characters(role.namespace()) + JsonMemory.characters(role.name()))
                + role.rules().stream()
                        .mapToLong(rule -> RULE
                                + rule.texts()
                                        .mapToLong(text -> TEXT + JsonMemory.characters(text))
                                        .sum())
                        .sum();
    }

    /** About how many bytes of memory {@code binding} takes at most. */
    public static long bytes(Binding binding) {
        return BINDING
                + names(binding.reason())
                + binding.subjects().stream()
                        .mapToLong(subject -> SUBJECT
                                + JsonMemory.characters(
                                        Binding.ACCOUNT_PREFIX + subject.namespace() + ":" + subject.name()))
                        .sum();
    }

    private static long bytes(Grant grant) {
        return BINDING
                + names(grant.reason())
                + grant.subjects().stream()
                        .mapToLong(whom -> SUBJECT + JsonMemory.characters(whom.name()))
                        .sum();
    }

    /** Bytes of memory of the names of a binding and its role, all of which are in the {@code reason}. */
    private static long names(String reason) {
        return COPIES * JsonMemory.characters(reason);
    }

    /** The role of this kind and name, if it exists; ignores {@code namespace} for a ClusterRole. */
    public Optional<Role> role(String kind, String namespace, String name) {
        return Optional.ofNullable(roles.get(new RoleKey(kind.equals("Role") ? namespace : "", name)));
    }

    /** Whether a binding allows the request. Looks at each role once, however many bindings grant it to the user. */
    public AuthorizationDecision decide(Attributes asked) {
        Set<RoleKey> tried = new HashSet<>();
        for (Kind kind : ofUser(asked.user())) {
            AuthorizationDecision own = decide(kind, asked.user(), asked, tried);
            if (own.allowed()) {
                return own;
            }
        }
        for (String group : asked.groups()) {
            AuthorizationDecision common = decide(Kind.GROUP, group, asked, tried);
            if (common.allowed()) {
                return common;
            }
        }
        return AuthorizationDecision.NOT_KNOWN;
    }

    private AuthorizationDecision decide(Kind kind, String name, Attributes asked, Set<RoleKey> tried) {
        AuthorizationDecision everywhere = decide(new Whom(kind, name, ""), asked, tried);
        return everywhere.allowed() || asked.namespace().isEmpty()
                ? everywhere
                : decide(new Whom(kind, name, asked.namespace()), asked, tried);
    }

    private AuthorizationDecision decide(Whom whom, Attributes asked, Set<RoleKey> tried) {
        for (Grant grant : grants.getOrDefault(whom, List.of())) {
            if (tried.add(grant.role()) && rules(grant.role()).stream().anyMatch(rule -> rule.allows(asked))) {
                return whom.allowed(grant);
            }
        }
        return AuthorizationDecision.NOT_KNOWN;
    }

    private List<PolicyRule> rules(RoleKey key) {
        Role role = roles.get(key);
        return role == null ? List.of() : role.rules();
    }

    /**
     * All rules that a user has in {@code namespace}; if it is empty, only those of ClusterRoleBindings. Those of a role are there once,
     * however many bindings grant it.
     */
    public List<PolicyRule> rules(String user, List<String> groups, String namespace) {
        Set<RoleKey> granted = new LinkedHashSet<>();
        for (Kind kind : ofUser(user)) {
            collect(kind, user, namespace, granted);
        }
        groups.forEach(group -> collect(Kind.GROUP, group, namespace, granted));
        return granted.stream().flatMap(key -> rules(key).stream()).toList();
    }

    /** As what bindings may name a user. */
    private static List<Kind> ofUser(String user) {
        return user.startsWith(Binding.ACCOUNT_PREFIX) ? List.of(Kind.USER, Kind.ACCOUNT) : List.of(Kind.USER);
    }

    private void collect(Kind kind, String name, String namespace, Set<RoleKey> granted) {
        for (String place : namespace.isEmpty() ? List.of("") : List.of("", namespace)) {
            grants.getOrDefault(new Whom(kind, name, place), List.of()).forEach(grant -> granted.add(grant.role()));
        }
    }
}
