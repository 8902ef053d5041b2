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
import java.util.stream.Collectors;
import java.util.stream.Stream;

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
                .map(role -> isAggregated(role) ? role.with("rules", sum(aggregation.sources(role))) : role)
                .toList();
    }

    /** Whether {@code role} is aggregated from other roles. */
    public static boolean isAggregated(JsonObject role) {
        return role.has(RULE);
    }

    /** Whether the rules of {@code role} differ from {@code rules}; their order does not matter. */
    public static boolean differs(JsonObject role, JsonArray rules) {
        return !distinct(role.array("rules")).keySet().equals(distinct(rules).keySet());
    }

    /** The rules of {@code sources}, each once, in their order. */
    public static JsonArray sum(List<JsonObject> sources) {
        Map<String, JsonValue> rules = new LinkedHashMap<>();
        sources.forEach(source -> distinct(source.array("rules")).forEach(rules::putIfAbsent));
        return new JsonArray(List.copyOf(rules.values()));
    }

    /** The roles whose rules {@code role} has, ordered by selector, then by name. */
    public List<JsonObject> sources(JsonObject role) {
        List<JsonObject> sources = new ArrayList<>();
        collect(role, new HashSet<>(Set.of(name(role))), sources);
        return sources;
    }

    /** Whether {@code role} selects what {@code other} does. */
    public static boolean selectsAs(JsonObject role, JsonObject other) {
        return isAggregated(role) && role.object(RULE).equals(other.object(RULE));
    }

    /** Whether {@code aggregated} selects {@code role}. */
    public static boolean selects(JsonObject aggregated, JsonObject role) {
        Map<String, String> labels = labels(role);
        return selectors(aggregated).anyMatch(selector -> LabelSelectors.matches(selector, labels));
    }

    private static Stream<JsonObject> selectors(JsonObject role) {
        return role.object(RULE).array("clusterRoleSelectors").objects();
    }

    /** The labels that the selectors of {@code role} look at. */
    public static Set<String> labelKeys(JsonObject role) {
        return selectors(role)
                .flatMap(selector -> Stream.concat(
                        selector.object("matchLabels").fields().keySet().stream(),
                        selector.array("matchExpressions").objects().map(expression -> expression.text("key"))))
                .collect(Collectors.toSet());
    }

    /** What aggregation looks at: the name of {@code role}, those of its labels that are in {@code keys}, and its selectors. */
    public static JsonObject outline(JsonObject role, Set<String> keys) {
        Map<String, String> labels = new LinkedHashMap<>(labels(role));
        labels.keySet().retainAll(keys);
        JsonObject.Builder outline = JsonObject.builder()
                .put(
                        "metadata",
                        JsonObject.builder()
                                .put("name", name(role))
                                .put("labels", JsonObject.ofStrings(labels))
                                .build());
        role.get(RULE).ifPresent(rule -> outline.put(RULE, rule));
        return outline.build();
    }

    /** Each rule once, by its identity, because a hash table finds texts of one hash code fast. */
    private static Map<String, JsonValue> distinct(JsonArray rules) {
        Map<String, JsonValue> distinct = new LinkedHashMap<>();
        rules.items().forEach(rule -> distinct.putIfAbsent(Json.identity(rule), rule));
        return distinct;
    }

    private void collect(JsonObject role, Set<String> visited, List<JsonObject> sources) {
        selectors(role).forEach(selector -> {
            for (JsonObject source : roles) {
                if (!visited.contains(name(source)) && LabelSelectors.matches(selector, labels(source))) {
                    visited.add(name(source));
                    if (isAggregated(source)) {
                        collect(source, visited, sources);
                    } else {
                        sources.add(source);
                    }
                }
            }
        });
    }

    private static Map<String, String> labels(JsonObject role) {
        return role.object("metadata").object("labels").texts();
    }

    /** The name of {@code role}. */
    public static String name(JsonObject role) {
        return role.object("metadata").text("name");
    }
}
