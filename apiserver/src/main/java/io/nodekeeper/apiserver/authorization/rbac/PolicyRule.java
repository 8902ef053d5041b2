package io.nodekeeper.apiserver.authorization.rbac;

import io.nodekeeper.api.ApiException;
import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonArray;
import io.nodekeeper.api.json.JsonObject;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * What a role allows: verbs on resources, or on paths. Immutable.
 *
 * @param verbs the verbs; {@code *} for all
 * @param groups the API groups; {@code *} for all
 * @param resources the resources, with their subresource if there is one; {@code *} for all, {@code *}{@code /scale} for
 *     that subresource of all
 * @param names the objects' names; empty for all
 * @param paths the paths that lead to no objects; a {@code *} at the end stands for any rest
 */
public record PolicyRule(
        List<String> verbs, List<String> groups, List<String> resources, List<String> names, List<String> paths) {
    /**
     * The most combinations that one write of a role is checked for. The largest role of Kubernetes, {@code admin}, has some
     * 500; a body of 3 KB with 100 of each could have a million.
     */
    private static final int COMBINATIONS = 10_000;

    /** The most texts that one such check looks at: some tenths of a second. Held and wanted rules may be many thousands each. */
    private static final long COMPARISONS = 20_000_000;

    private static final String ALL = "*";

    /** Copies the lists. */
    public PolicyRule {
        verbs = List.copyOf(verbs);
        groups = List.copyOf(groups);
        resources = List.copyOf(resources);
        names = List.copyOf(names);
        paths = List.copyOf(paths);
    }

    /** Reads Kubernetes' Rule. */
    public static PolicyRule of(JsonObject json) {
        return new PolicyRule(
                json.array("verbs").strings().toList(),
                json.array("apiGroups").strings().toList(),
                json.array("resources").strings().toList(),
                json.array("resourceNames").strings().toList(),
                json.array("nonResourceURLs").strings().toList());
    }

    /** The rules of a Role or ClusterRole. */
    public static List<PolicyRule> listOf(JsonObject role) {
        return role.array("rules").objects().map(PolicyRule::of).toList();
    }

    /** Kubernetes' Rule. */
    public JsonObject json() {
        JsonObject.Builder json = JsonObject.builder().put("verbs", JsonArray.ofStrings(verbs));
        put(json, "apiGroups", groups);
        put(json, "resources", resources);
        put(json, "resourceNames", names);
        put(json, "nonResourceURLs", paths);
        return json.build();
    }

    private static void put(JsonObject.Builder json, String field, List<String> values) {
        if (!values.isEmpty()) {
            json.put(field, JsonArray.ofStrings(values));
        }
    }

    /** All texts of the rule. */
    public Stream<String> texts() {
        return Stream.of(verbs, groups, resources, names, paths).flatMap(List::stream);
    }

    public boolean allows(Attributes asked) {
        if (!has(verbs, asked.verb())) {
            return false;
        }
        if (!asked.isResource()) {
            return paths.stream().anyMatch(path -> covers(path, asked.path()));
        }
        return has(groups, asked.group())
                && hasResource(asked.resource())
                && (names.isEmpty() || names.contains(asked.name()));
    }

    private boolean hasResource(String resource) {
        if (has(resources, resource)) {
            return true;
        }
        int slash = resource.indexOf('/');
        return slash >= 0 && resources.contains(ALL + resource.substring(slash));
    }

    private static boolean has(List<String> values, String value) {
        return values.contains(value) || values.contains(ALL);
    }

    private static boolean covers(String pattern, String path) {
        return pattern.equals(path)
                || (pattern.endsWith(ALL) && path.startsWith(pattern.substring(0, pattern.length() - 1)));
    }

    /** Whether this rule alone allows everything that {@code single} allows, which has one value per field. */
    private boolean coversSingle(PolicyRule single) {
        if (!has(verbs, single.verbs.getFirst())) {
            return false;
        }
        if (!single.paths.isEmpty()) {
            return paths.stream().anyMatch(path -> covers(path, single.paths.getFirst()));
        }
        return has(groups, single.groups.getFirst())
                && hasResource(single.resources.getFirst())
                && (names.isEmpty() || (!single.names.isEmpty() && names.contains(single.names.getFirst())));
    }

    /** This rule as rules with one value per field. */
    private List<PolicyRule> singles() {
        List<PolicyRule> singles = new ArrayList<>();
        for (String verb : verbs) {
            for (String path : paths) {
                singles.add(new PolicyRule(List.of(verb), List.of(), List.of(), List.of(), List.of(path)));
            }
            for (String group : groups) {
                for (String resource : resources) {
                    for (String name : names.isEmpty() ? List.of("") : names) {
                        singles.add(new PolicyRule(
                                List.of(verb),
                                List.of(group),
                                List.of(resource),
                                name.isEmpty() ? List.of() : List.of(name),
                                List.of()));
                    }
                }
            }
        }
        return singles;
    }

    /** The number of rules that {@link #singles} returns; capped, because a short body can name a billion. */
    private long combinations() {
        double things = (double) groups.size() * resources.size() * Math.max(1, names.size()) + paths.size();
        return (long) Math.min(Integer.MAX_VALUE, things * verbs.size());
    }

    /** Whether this rule alone allows everything that {@code other} allows. The time is linear in the size of both. */
    private boolean coversWhole(PolicyRule other) {
        return hasAll(verbs, other.verbs)
                && hasAll(groups, other.groups)
                && hasAll(resources, other.resources)
                && hasAll(paths, other.paths)
                && (names.isEmpty() || (!other.names.isEmpty() && new HashSet<>(names).containsAll(other.names)));
    }

    private static boolean hasAll(List<String> values, List<String> others) {
        return others.isEmpty() || values.contains(ALL) || new HashSet<>(values).containsAll(others);
    }

    /**
     * The part of {@code wanted} that no rule of {@code held} allows, with the verbs of one resource in one rule.
     *
     * @throws ApiException 422 if {@code wanted} has more than {@value #COMBINATIONS} combinations of verb, group, resource and
     *     name that no single rule allows together, or if there is too much to compare
     */
    public static List<PolicyRule> missing(List<PolicyRule> held, List<PolicyRule> wanted) {
        // By the text of the rule, as a hash table finds texts of one hash code fast.
        Map<String, Missing> missing = new LinkedHashMap<>();
        Holders holders = new Holders(held);
        long combinations = 0;
        for (PolicyRule rule : wanted) {
            if (holders.any(rule.texts().count(), holder -> holder.coversWhole(rule))) {
                continue;
            }
            combinations += rule.combinations();
            if (combinations > COMBINATIONS) {
                throw tooMany("at most " + COMBINATIONS
                        + " combinations of verb, API group, resource and name can be checked for escalation");
            }
            for (PolicyRule single : rule.singles()) {
                if (!holders.any(1, holder -> holder.coversSingle(single))) {
                    PolicyRule thing =
                            new PolicyRule(List.of(), single.groups, single.resources, single.names, single.paths);
                    missing.computeIfAbsent(Json.write(thing.json()), text -> new Missing(thing, new TreeSet<>()))
                            .verbs
                            .add(single.verbs.getFirst());
                }
            }
        }
        return missing.values().stream().map(Missing::rule).toList();
    }

    private static ApiException tooMany(String why) {
        return new ApiException(422, "Invalid", "rules: Too many: " + why);
    }

    /** The rules that a user holds, of which one check may look at {@value #COMPARISONS} texts. */
    private static final class Holders {
        private final List<PolicyRule> rules;
        private final long[] sizes;
        private long left = COMPARISONS;

        private Holders(List<PolicyRule> rules) {
            this.rules = rules;
            sizes = rules.stream().mapToLong(rule -> 1 + rule.texts().count()).toArray();
        }

        /** Whether one of the rules {@code covers} something of {@code size} texts. */
        private boolean any(long size, Predicate<PolicyRule> covers) {
            for (int i = 0; i < sizes.length; i++) {
                left -= sizes[i] + size;
                if (left < 0) {
                    throw tooMany(
                            "comparing them with the rules that the user holds takes too long; write fewer at once");
                }
                if (covers.test(rules.get(i))) {
                    return true;
                }
            }
            return false;
        }
    }

    /** A rule without verbs, and those of it that are not allowed. */
    private record Missing(PolicyRule thing, TreeSet<String> verbs) {
        private PolicyRule rule() {
            return new PolicyRule(List.copyOf(verbs), thing.groups, thing.resources, thing.names, thing.paths);
        }
    }

    /** The rule in the form of Kubernetes' refusals: {@code {APIGroups:[""], Resources:["pods"], Verbs:["get" "list"]}}. */
    @Override
    public String toString() {
        List<String> parts = new ArrayList<>();
        add(parts, "APIGroups", groups);
        add(parts, "Resources", resources);
        add(parts, "NonResourceURLs", paths);
        add(parts, "ResourceNames", names);
        add(parts, "Verbs", verbs);
        return "{" + String.join(", ", parts) + "}";
    }

    private static void add(List<String> parts, String what, List<String> values) {
        if (!values.isEmpty()) {
            parts.add(what + ":" + quoted(values));
        }
    }

    /** Strings in the form of Kubernetes' messages: {@code ["a" "b"]}. */
    public static String quoted(List<String> values) {
        return values.stream().map(value -> "\"" + value + "\"").collect(Collectors.joining(" ", "[", "]"));
    }
}
