package io.nodekeeper.apiserver.authorization.rbac;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.nodekeeper.api.ApiException;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** What rules allow of others. */
class RuleTest {
    private static final Rule PODS =
            new Rule(List.of("get", "list"), List.of(""), List.of("pods"), List.of(), List.of());

    private static List<String> names(int count) {
        return IntStream.range(0, count).mapToObj(i -> "n" + i).toList();
    }

    @Test
    void whatNoRuleAllowsIsMissingWithTheVerbsOfOneThingTogether() {
        Rule wanted = new Rule(
                List.of("get", "update", "delete"), List.of(""), List.of("pods", "nodes"), List.of(), List.of());
        assertThat(Rule.missing(List.of(PODS), List.of(wanted)))
                .containsExactlyInAnyOrder(
                        new Rule(List.of("delete", "update"), List.of(""), List.of("pods"), List.of(), List.of()),
                        new Rule(
                                List.of("delete", "get", "update"),
                                List.of(""),
                                List.of("nodes"),
                                List.of(),
                                List.of()));
    }

    @Test
    void aShortRuleThatNamesABillionCombinationsIsRefused() {
        // Given a body of 40 KB, which made a billion rules before.
        Rule bomb = new Rule(names(1_000), names(1_000), names(1_000), List.of(), List.of());
        assertThatThrownBy(() -> Rule.missing(List.of(PODS), List.of(bomb)))
                .isInstanceOf(ApiException.class)
                .hasMessageContaining("Too many: at most 10000 combinations");
    }

    @Test
    void theBoundHoldsForAllRulesTogether() {
        Rule rule = new Rule(names(10), names(10), names(10), List.of(), List.of());
        assertThat(Rule.missing(List.of(PODS), List.of(rule, rule, rule))).hasSize(100);
        assertThatThrownBy(() -> Rule.missing(
                        List.of(PODS),
                        IntStream.range(0, 11).mapToObj(i -> rule).toList()))
                .isInstanceOf(ApiException.class);
    }

    @Test
    void aRuleThatOneOtherAllowsWholeMayBeAsLargeAsItLikes() {
        Rule large = new Rule(names(1_000), names(1_000), names(1_000), List.of(), List.of());
        Rule all = new Rule(List.of("*"), List.of("*"), List.of("*"), List.of(), List.of());
        assertThat(Rule.missing(List.of(PODS, all), List.of(large))).isEmpty();
        assertThat(Rule.missing(List.of(large), List.of(large))).isEmpty();
    }

    @Test
    void aRuleForNamedObjectsAllowsNothingOfOneForAll() {
        Rule named = new Rule(List.of("get"), List.of(""), List.of("pods"), List.of("p"), List.of());
        Rule unnamed = new Rule(List.of("get"), List.of(""), List.of("pods"), List.of(), List.of());
        assertThat(Rule.missing(List.of(named), List.of(unnamed))).containsExactly(unnamed);
        assertThat(Rule.missing(List.of(unnamed), List.of(named))).isEmpty();
    }
}
