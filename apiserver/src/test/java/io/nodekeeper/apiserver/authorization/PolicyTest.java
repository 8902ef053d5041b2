package io.nodekeeper.apiserver.authorization;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.apiserver.authorization.rbac.Attributes;
import io.nodekeeper.apiserver.authorization.rbac.Binding;
import io.nodekeeper.apiserver.authorization.rbac.PolicyRule;
import io.nodekeeper.apiserver.authorization.rbac.Role;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What decisions cost when one user has very many bindings. */
class PolicyTest {
    /** Each decision compared 40 million names if it looked at the role once for each binding: minutes for all. */
    @Test
    @Timeout(60)
    void aDecisionLooksAtEachRoleOnceHoweverManyBindingsGrantIt() {
        List<String> names = IntStream.range(0, 20_000).mapToObj(i -> "p" + i).toList();
        PolicyRule rule = new PolicyRule(List.of("get"), List.of(""), List.of("pods"), names, List.of());
        List<Binding> bindings = IntStream.range(0, 2_000)
                .mapToObj(i -> new Binding("a", "b" + i, "Role", "r", List.of(new Binding.Subject("User", "x", ""))))
                .toList();
        Policy policy = Policy.of(List.of(new Role("a", "r", List.of(rule))), bindings);

        for (int i = 0; i < 1_000; i++) {
            assertThat(policy.decide(Attributes.ofResource("x", List.of(), "get", "", "pods", "a", "other"))
                            .allowed())
                    .isFalse();
        }
    }
}
