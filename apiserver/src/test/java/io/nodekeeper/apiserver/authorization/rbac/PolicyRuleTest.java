package io.nodekeeper.apiserver.authorization.rbac;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.nodekeeper.api.ApiException;
import java.util.Collections;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Comparisons of rules for escalation checks. */
class PolicyRuleTest {
    private static final PolicyRule PODS =
            new PolicyRule(List.of("get", "list"), List.of(""), List.of("pods"), List.of(), List.of());

    private static List<String> names(int count) {
        return IntStream.range(0, count).mapToObj(i -> "n" + i).toList();
    }

    @Test
    void missingRulesAreGroupedByResource() {
        PolicyRule wanted = new PolicyRule(
                List.of("get", "update", "delete"), List.of(""), List.of("pods", "nodes"), List.of(), List.of());
        assertThat(PolicyRule.missing(List.of(PODS), List.of(wanted)))
                .containsExactlyInAnyOrder(
                        new PolicyRule(List.of("delete", "update"), List.of(""), List.of("pods"), List.of(), List.of()),
                        new PolicyRule(
                                List.of("delete", "get", "update"),
                                List.of(""),
                                List.of("nodes"),
                                List.of(),
                                List.of()));
    }

    @Test
    void ruleWithABillionCombinationsIsRefused() {
        // given a body of 40 KB that names a billion combinations
        PolicyRule bomb = new PolicyRule(names(1_000), names(1_000), names(1_000), List.of(), List.of());
        assertThatThrownBy(() -> PolicyRule.missing(List.of(PODS), List.of(bomb)))
                .isInstanceOf(ApiException.class)
                .hasMessageContaining("Too many: at most 10000 combinations");
    }

    @Test
    void limitAppliesToAllRulesTogether() {
        PolicyRule rule = new PolicyRule(names(10), names(10), names(10), List.of(), List.of());
        assertThat(PolicyRule.missing(List.of(PODS), List.of(rule, rule, rule))).hasSize(100);
        assertThatThrownBy(() -> PolicyRule.missing(
                        List.of(PODS),
                        IntStream.range(0, 11).mapToObj(i -> rule).toList()))
                .isInstanceOf(ApiException.class);
    }

    @Test
    void largeRuleIsAllowedIfOneRuleCoversIt() {
        PolicyRule large = new PolicyRule(names(1_000), names(1_000), names(1_000), List.of(), List.of());
        PolicyRule all = new PolicyRule(List.of("*"), List.of("*"), List.of("*"), List.of(), List.of());
        assertThat(PolicyRule.missing(List.of(PODS, all), List.of(large))).isEmpty();
        assertThat(PolicyRule.missing(List.of(large), List.of(large))).isEmpty();
    }

    @Test
    void ruleForNamedObjectsDoesNotCoverAllObjects() {
        PolicyRule named = new PolicyRule(List.of("get"), List.of(""), List.of("pods"), List.of("p"), List.of());
        PolicyRule unnamed = new PolicyRule(List.of("get"), List.of(""), List.of("pods"), List.of(), List.of());
        assertThat(PolicyRule.missing(List.of(named), List.of(unnamed))).containsExactly(unnamed);
        assertThat(PolicyRule.missing(List.of(unnamed), List.of(named))).isEmpty();
    }

    @Test
    void tooManyRulesToCompareAreRefused() {
        // given 5,000 rules that are held, and as many that are wanted, each covered by the last one only
        List<PolicyRule> held = IntStream.range(0, 5_000)
                .mapToObj(i -> new PolicyRule(List.of("get"), List.of(""), List.of("r" + i), List.of(), List.of()))
                .toList();
        List<PolicyRule> wanted =
                IntStream.range(0, 5_000).mapToObj(i -> held.getLast()).toList();

        assertThatThrownBy(() -> PolicyRule.missing(held, wanted))
                .isInstanceOf(ApiException.class)
                .hasMessageContaining("Too many: comparing them with the rules that the user holds takes too long");
        // and many combinations of one rule that is not held
        PolicyRule large = new PolicyRule(List.of("delete"), List.of(""), names(9_000), List.of(), List.of());
        assertThatThrownBy(() -> PolicyRule.missing(held, List.of(large)))
                .isInstanceOf(ApiException.class)
                .hasMessageContaining("Too many: comparing them");
        // but Kubernetes' largest role can be granted a hundred times
        List<PolicyRule> admin = BuiltInRoles.rulesOf("admin");
        assertThat(PolicyRule.missing(
                        admin,
                        Collections.nCopies(100, admin).stream()
                                .flatMap(List::stream)
                                .toList()))
                .isEmpty();
    }
}
