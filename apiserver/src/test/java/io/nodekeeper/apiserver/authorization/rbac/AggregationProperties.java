package io.nodekeeper.apiserver.authorization.rbac;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.api.json.JsonValue;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;

/** Aggregated rules for random graphs of roles, including cycles. */
class AggregationProperties {
    private static final String ROLE = """
            {"metadata":{"name":"r%d","labels":{"in":"s%d"}},"rules":[%s]%s}""";

    /** Roles r0 to r7. Each has one of four labels, and about half of them aggregate the roles of one label. */
    private static List<JsonObject> roles(Random random) {
        List<JsonObject> roles = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            String collects = random.nextBoolean() ? "" : """
                    ,"aggregationRule":{"clusterRoleSelectors":[{"matchLabels":{"in":"s%d"}}]}""".formatted(random.nextInt(4));
            String rule = """
                    {"apiGroups":[""],"resources":["x%d"],"verbs":["get"]}""".formatted(i);
            roles.add(Json.parseObject(ROLE.formatted(i, random.nextInt(4), rule, collects)));
        }
        return roles;
    }

    private static Set<JsonValue> own(JsonObject role) {
        return Set.copyOf(role.array("rules").items());
    }

    /** The roles that a role selects, directly or through other roles. */
    private static Set<JsonValue> reachable(List<JsonObject> roles, JsonObject from) {
        Set<JsonObject> reached = new HashSet<>(Set.of(from));
        boolean grows = true;
        while (grows) {
            Set<JsonObject> next = new HashSet<>(reached);
            for (JsonObject role : reached) {
                if (role.has("aggregationRule")) {
                    String set = role.object("aggregationRule")
                            .array("clusterRoleSelectors")
                            .objects()
                            .findFirst()
                            .orElseThrow()
                            .object("matchLabels")
                            .text("in");
                    roles.stream()
                            .filter(source -> source.object("metadata")
                                    .object("labels")
                                    .text("in")
                                    .equals(set))
                            .forEach(next::add);
                }
            }
            grows = next.size() > reached.size();
            reached = next;
        }
        Set<JsonValue> rules = new HashSet<>();
        reached.stream().filter(role -> !role.has("aggregationRule")).forEach(role -> rules.addAll(own(role)));
        return rules;
    }

    @Property(tries = 500)
    void roleHasTheRulesOfAllPlainRolesItReaches(@ForAll long seed, @ForAll @IntRange(max = 1) int shuffled) {
        Random random = new Random(seed);
        List<JsonObject> roles = roles(random);
        if (shuffled == 1) {
            Collections.shuffle(roles, random);
        }

        List<JsonObject> settled = Aggregation.settled(roles);

        Aggregation after = new Aggregation(settled);
        for (int i = 0; i < roles.size(); i++) {
            JsonObject role = roles.get(i);
            Set<JsonValue> expected = role.has("aggregationRule") ? reachable(roles, role) : own(role);
            assertThat(own(settled.get(i))).as("%s", role).isEqualTo(expected);
            // and the result is stable: nothing has to be written again
            assertThat(Aggregation.isAggregated(role)
                            && Aggregation.differs(settled.get(i), Aggregation.sum(after.sources(settled.get(i)))))
                    .isFalse();
        }
    }
}
