package io.nodekeeper.apiserver.authorization.rbac;

import io.nodekeeper.api.json.JsonArray;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.api.json.JsonValue;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * Roles and bindings in a compact notation, which the head of {@code built-in-roles.txt} describes. Immutable once
 * parsed.
 */
final class RoleText {
    private static final String API_GROUP = "rbac.authorization.k8s.io";
    private static final String CONTROLLER = "system:controller:";
    private static final List<String> KINDS = List.of("ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding");
    private static final Map<String, List<String>> VERBS = Map.of(
            "read", List.of("get", "list", "watch"),
            "write", List.of("create", "delete", "deletecollection", "patch", "update"));

    private final Map<String, List<JsonObject>> objects = new LinkedHashMap<>();

    /** The annotation that allows the server to bring a built-in role or binding up to date at its start. */
    static final String AUTO_UPDATE = "rbac.authorization.kubernetes.io/autoupdate";

    private RoleText() {}

    /** Parses {@code text}; an {@link IllegalArgumentException} names a line that is malformed. */
    static RoleText parse(String text) {
        RoleText result = new RoleText();
        List<String> block = new ArrayList<>();
        for (String line : text.lines().toList()) {
            if (line.isBlank() || line.startsWith("#")) {
                continue;
            }
            if (!line.startsWith(" ")) {
                result.add(block);
                block.clear();
            }
            block.add(line.strip());
        }
        result.add(block);
        List<JsonObject> roles = result.of("ClusterRole");
        result.objects.put("ClusterRole", Aggregation.settled(roles));
        return result;
    }

    /** The objects of {@code kind}, in the order of the text. */
    List<JsonObject> of(String kind) {
        return List.copyOf(objects.getOrDefault(kind, List.of()));
    }

    private void add(List<String> block) {
        if (block.isEmpty()) {
            return;
        }
        String[] head = block.getFirst().split("\\s+");
        if (head.length != 2 || !KINDS.contains(head[0])) {
            throw new IllegalArgumentException("expected a kind and a name: " + block.getFirst());
        }
        List<String> lines = block.subList(1, block.size());
        boolean binding = head[0].endsWith("Binding");
        put(head[0], binding ? binding(head[0], head[1], lines) : role(head[1], lines));
        if (head[0].equals("ClusterRole") && head[1].startsWith(CONTROLLER)) {
            String account = "ServiceAccount kube-system/" + head[1].substring(CONTROLLER.length());
            put("ClusterRoleBinding", binding("ClusterRoleBinding", head[1], List.of(account)));
        }
    }

    private void put(String kind, JsonObject object) {
        objects.computeIfAbsent(kind, none -> new ArrayList<>()).add(object);
    }

    private static JsonObject role(String name, List<String> lines) {
        JsonObject role = named(name);
        List<JsonValue> rules = new ArrayList<>();
        for (String line : lines) {
            String[] words = line.split("\\s+");
            switch (words[0]) {
                case "label" ->
                    role = role.update(
                            "metadata",
                            metadata -> metadata.update(
                                    "labels", labels -> labels.with(API_GROUP + "/" + words[1], "true")));
                case "aggregates" -> role = role.with("aggregationRule", aggregation(words[1]));
                default -> rules.add(rule(line, words).json());
            }
        }
        return role.with("rules", new JsonArray(rules));
    }

    private static JsonObject aggregation(String label) {
        JsonObject selector =
                JsonObject.EMPTY.update("matchLabels", labels -> labels.with(API_GROUP + "/" + label, "true"));
        return JsonObject.builder()
                .put("clusterRoleSelectors", JsonArray.of(selector))
                .build();
    }

    private static PolicyRule rule(String line, String[] words) {
        int verbs = words.length > 2 && words[2].startsWith("name=") ? 3 : 2;
        if (words.length <= verbs) {
            throw new IllegalArgumentException("expected groups, resources and verbs: " + line);
        }
        List<String> allowed = Arrays.stream(words)
                .skip(verbs)
                .flatMap(verb -> VERBS.getOrDefault(verb, List.of(verb)).stream())
                .toList();
        if (words[0].equals("paths")) {
            return new PolicyRule(allowed, List.of(), List.of(), List.of(), items(words[1]));
        }
        List<String> groups = items(words[0]).stream()
                .map(group -> group.equals("core") ? "" : group)
                .toList();
        List<String> names = verbs == 3 ? items(words[2].substring("name=".length())) : List.of();
        return new PolicyRule(allowed, groups, items(words[1]), names, List.of());
    }

    private static JsonObject binding(String kind, String name, List<String> lines) {
        boolean cluster = kind.equals("ClusterRoleBinding");
        String role = name.substring(name.indexOf('/') + 1);
        List<JsonValue> subjects = new ArrayList<>();
        for (String line : lines) {
            String[] words = line.split("\\s+");
            if (words[0].equals("role")) {
                role = words[1];
            } else {
                subjects.add(subject(words[0], words[1]));
            }
        }
        JsonObject reference = JsonObject.builder()
                .put("apiGroup", API_GROUP)
                .put("kind", cluster ? "ClusterRole" : "Role")
                .put("name", role)
                .build();
        JsonObject binding = named(name);
        return (subjects.isEmpty() ? binding : binding.with("subjects", new JsonArray(subjects)))
                .with("roleRef", reference);
    }

    private static JsonObject subject(String kind, String name) {
        return switch (kind) {
            case "User", "Group" ->
                JsonObject.builder()
                        .put("kind", kind)
                        .put("apiGroup", API_GROUP)
                        .put("name", name)
                        .build();
            case "ServiceAccount" ->
                JsonObject.builder()
                        .put("kind", kind)
                        .put("name", name.substring(name.indexOf('/') + 1))
                        .put("namespace", name.substring(0, name.indexOf('/')))
                        .build();
            default -> throw new IllegalArgumentException("expected User, Group or ServiceAccount: " + kind);
        };
    }

    private static JsonObject named(String name) {
        int slash = name.indexOf('/');
        JsonObject.Builder metadata = JsonObject.builder().put("name", name.substring(slash + 1));
        if (slash > 0) {
            metadata.put("namespace", name.substring(0, slash));
        }
        return JsonObject.builder()
                .put(
                        "metadata",
                        metadata.put("labels", JsonObject.EMPTY.with("kubernetes.io/bootstrapping", "rbac-defaults"))
                                .put("annotations", JsonObject.EMPTY.with(AUTO_UPDATE, "true"))
                                .build())
                .build();
    }

    private static List<String> items(String list) {
        return Stream.of(list.split(",")).toList();
    }
}
