package io.nodekeeper.apiserver.authorization.rbac;

import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonArray;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.api.json.JsonValue;
import io.nodekeeper.api.selector.LabelSelectors;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Computes the rules of ClusterRoles with an {@code aggregationRule}: the rules of all ClusterRoles that they select,
 * directly or through other roles. Only roles without an aggregation rule contribute rules. So the result does not
 * depend on the order and number of computations, even if roles select each other in a circle. Immutable.
 */
public final class Aggregation {
    private static final String RULE = "aggregationRule";

    private final List<JsonObject> roles;

    /** {@code roles}: all ClusterRoles. */
    public Aggregation(Iterable<JsonObject> roles) {
        List<JsonObject> sorted = new ArrayList<>();
        roles.forEach(sorted::add);
        // Ordered by name as in kube-controller-manager, so that both write the same result.
        sorted.sort(Comparator.comparing(Aggregation::name));
        this.roles = List.copyOf(sorted);
    }

    /** {@code roles} with their aggregated rules. */
    static List<JsonObject> settled(List<JsonObject> roles) {
        Aggregation aggregation = new Aggregation(roles);
        return roles.stream()
                .map(role -> isAggregated(role) ? role.with("rules", aggregation.rules(role)) : role)
                .toList();
    }

    /** Whether {@code role} is aggregated from other roles. */
    public static boolean isAggregated(JsonObject role) {
        return role.has(RULE);
    }

    /** Whether the rules of {@code role} differ from its aggregated rules; their order does not matter. */
    public boolean isStale(JsonObject role) {
        return isAggregated(role)
                && !distinct(role.array("rules"))
                        .keySet()
                        .equals(distinct(rules(role)).keySet());
    }

    /** The aggregated rules of {@code role}, each once, ordered by selector, then by the name of the selected role. */
    public JsonArray rules(JsonObject role) {
        Map<String, JsonValue> rules = new LinkedHashMap<>();
        Set<String> visited = new HashSet<>(Set.of(name(role)));
        collect(role, visited, rules);
        return new JsonArray(List.copyOf(rules.values()));
    }

    /** Each rule once, by its identity, because a hash table finds texts of one hash code fast. */
    private static Map<String, JsonValue> distinct(JsonArray rules) {
        Map<String, JsonValue> distinct = new LinkedHashMap<>();
        rules.items().forEach(rule -> distinct.putIfAbsent(Json.identity(rule), rule));
        return distinct;
    }

    private void collect(JsonObject role, Set<String> visited, Map<String, JsonValue> rules) {
        for (JsonObject selector :
                role.object(RULE).array("clusterRoleSelectors").objects().toList()) {
            for (JsonObject source : roles) {
                Map<String, String> labels =
                        source.object("metadata").object("labels").texts();
                if (!visited.contains(name(source)) && LabelSelectors.matches(selector, labels)) {
                    visited.add(name(source));
                    if (isAggregated(source)) {
                        collect(source, visited, rules);
                    } else {
                        distinct(source.array("rules")).forEach(rules::putIfAbsent);
                    }
                }
            }
        }
    }

    private static String name(JsonObject role) {
        return role.object("metadata").text("name");
    }
}
