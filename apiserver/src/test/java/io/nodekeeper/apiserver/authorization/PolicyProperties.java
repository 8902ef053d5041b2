package io.nodekeeper.apiserver.authorization;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.apiserver.authorization.rbac.Attributes;
import io.nodekeeper.apiserver.authorization.rbac.Binding;
import io.nodekeeper.apiserver.authorization.rbac.PolicyRule;
import io.nodekeeper.apiserver.authorization.rbac.Role;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;

/** A policy after any changes is the policy of what is left. */
class PolicyProperties {
    private static final List<String> PLACES = List.of("", "a", "b");
    private static final List<String> NAMES = List.of("x", "y", "z");
    private static final List<String> KINDS = List.of("User", "Group", "ServiceAccount", "Other");

    private static String one(List<String> values, Random random) {
        return values.get(random.nextInt(values.size()));
    }

    private static Role role(String namespace, String name, Random random) {
        PolicyRule rule = new PolicyRule(
                List.of(one(List.of("get", "list"), random)), List.of(""), List.of("pods"), List.of(), List.of());
        return new Role(namespace, name, random.nextInt(4) == 0 ? List.of() : List.of(rule));
    }

    private static Binding binding(String namespace, String name, Random random) {
        List<Binding.Subject> subjects = new ArrayList<>();
        for (int i = random.nextInt(4); i > 0; i--) {
            // The same one may be named twice.
            subjects.add(new Binding.Subject(one(KINDS, random), one(NAMES, random), one(PLACES, random)));
        }
        String kind = namespace.isEmpty() || random.nextBoolean() ? "ClusterRole" : "Role";
        return new Binding(namespace, name, kind, one(NAMES, random), subjects);
    }

    @Property(tries = 300)
    void policyAfterAnyChangesDecidesAsThePolicyOfWhatIsLeft(@ForAll long seed) {
        Random random = new Random(seed);
        Policy policy = new Policy();
        Map<String, Role> roles = new HashMap<>();
        Map<String, Binding> bindings = new HashMap<>();
        for (int change = 0; change < 60; change++) {
            String place = one(PLACES, random);
            String name = one(NAMES, random);
            String key = place + "/" + name;
            switch (random.nextInt(6)) {
                case 0, 1 -> {
                    Role role = role(place, name, random);
                    roles.put("role " + key, role);
                    policy.put("role " + key, role);
                }
                case 2, 3 -> {
                    Binding binding = binding(place, name, random);
                    bindings.put("binding " + key, binding);
                    policy.put("binding " + key, binding);
                }
                case 4 -> {
                    String gone = (random.nextBoolean() ? "role " : "binding ") + key;
                    roles.remove(gone);
                    bindings.remove(gone);
                    policy.remove(gone);
                }
                default -> {
                    if (random.nextInt(5) == 0) {
                        String prefix = "binding " + place;
                        bindings.keySet().removeIf(each -> each.startsWith(prefix));
                        policy.removeIf(each -> each.startsWith(prefix));
                    }
                }
            }
        }

        Policy fresh = Policy.of(roles.values(), bindings.values());
        assertThat(policy.bytes()).isEqualTo(fresh.bytes());
        assertThat(policy.isEmpty()).isEqualTo(fresh.isEmpty());
        assertThat(PLACES).allSatisfy(place -> assertThat(policy.bytes(place)).isEqualTo(fresh.bytes(place)));
        for (String user : List.of("x", "y", "system:serviceaccount:a:x", "system:serviceaccount::z")) {
            for (List<String> groups : List.of(List.<String>of(), List.of("y"), List.of("x", "z"))) {
                for (String place : PLACES) {
                    for (String verb : List.of("get", "list")) {
                        Attributes asked = Attributes.ofResource(user, groups, verb, "", "pods", place, "");
                        assertThat(policy.decide(asked).allowed())
                                .as("%s", asked)
                                .isEqualTo(allows(roles.values(), bindings.values(), asked));
                    }
                    assertThat(policy.rules(user, groups, place))
                            .containsExactlyInAnyOrderElementsOf(fresh.rules(user, groups, place));
                }
            }
        }
        bindings.keySet().forEach(policy::remove);
        roles.keySet().forEach(policy::remove);
        assertThat(policy.isEmpty()).isTrue();
        assertThat(policy.bytes()).isZero();
        assertThat(PLACES).allSatisfy(place -> assertThat(policy.bytes(place)).isZero());
    }

    /** The definition, as Kubernetes' documents have it: looks at every subject of every binding. */
    private static boolean allows(Iterable<Role> roles, Iterable<Binding> bindings, Attributes asked) {
        for (Binding binding : bindings) {
            boolean reaches =
                    binding.namespace().isEmpty() || binding.namespace().equals(asked.namespace());
            boolean named = binding.subjects().stream().anyMatch(subject -> switch (subject.kind()) {
                case "User" -> subject.name().equals(asked.user());
                case "Group" -> asked.groups().contains(subject.name());
                case "ServiceAccount" ->
                    asked.user().equals("system:serviceaccount:" + subject.namespace() + ":" + subject.name());
                default -> false;
            });
            for (Role role : roles) {
                boolean meant = role.name().equals(binding.roleName())
                        && role.namespace().equals(binding.roleKind().equals("Role") ? binding.namespace() : "");
                if (reaches && named && meant && role.rules().stream().anyMatch(rule -> rule.allows(asked))) {
                    return true;
                }
            }
        }
        return false;
    }
}
