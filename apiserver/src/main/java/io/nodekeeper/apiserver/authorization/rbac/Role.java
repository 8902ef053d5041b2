package io.nodekeeper.apiserver.authorization.rbac;

import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonObject;
import java.util.List;

/**
 * A Role, or a ClusterRole if it has no namespace. Immutable.
 *
 * @param namespace the namespace; empty for a ClusterRole
 * @param name the name
 * @param rules the permissions
 */
public record Role(String namespace, String name, List<PolicyRule> rules) {
    /** The fields that {@link #of} reads, for {@link Json#parseFields}. */
    public static final JsonObject FIELDS = Json.parseObject("""
            {"metadata": {"namespace": true, "name": true},
             "rules": {"verbs": true, "apiGroups": true, "resources": true, "resourceNames": true, "nonResourceURLs": true}}
            """);

    /** Copies {@code rules}. */
    public Role {
        rules = List.copyOf(rules);
    }

    /** Reads a Role or ClusterRole. */
    public static Role of(JsonObject object) {
        JsonObject metadata = object.object("metadata");
        return new Role(metadata.text("namespace"), metadata.text("name"), PolicyRule.listOf(object));
    }
}
