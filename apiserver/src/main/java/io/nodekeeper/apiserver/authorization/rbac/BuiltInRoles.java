package io.nodekeeper.apiserver.authorization.rbac;

import io.nodekeeper.api.json.JsonObject;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;

/**
 * The roles and bindings that a server creates at its first start: those of Kubernetes and of Nodekeeper's own
 * controller. The source is the resource {@code built-in-roles.txt}. It also has Kubernetes' rules for resources that
 * this server does not serve. Immutable.
 */
public final class BuiltInRoles {
    /** Unless this annotation is {@code false}, a server adds missing rules and subjects to a built-in object at its start. */
    public static final String AUTO_UPDATE = RoleText.AUTO_UPDATE;

    /** Aggregated roles, and for each the role that keeps the rules which it had before aggregation existed. */
    public static final Map<String, String> AGGREGATED = Map.of(
            "admin", "system:aggregate-to-admin",
            "edit", "system:aggregate-to-edit",
            "view", "system:aggregate-to-view");

    private static final String SOURCE = "built-in-roles.txt";

    private static final RoleText TEXT = RoleText.parse(source());

    private BuiltInRoles() {}

    private static String source() {
        try (InputStream in = BuiltInRoles.class.getResourceAsStream(SOURCE)) {
            if (in == null) {
                throw new IllegalStateException(SOURCE + " is not on the class path");
            }
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException("cannot read " + SOURCE, e);
        }
    }

    /** The ClusterRoles; those with an aggregation rule have their aggregated rules. */
    public static List<JsonObject> clusterRoles() {
        return TEXT.of("ClusterRole");
    }

    /** The ClusterRoleBindings. */
    public static List<JsonObject> clusterRoleBindings() {
        return TEXT.of("ClusterRoleBinding");
    }

    /** The Roles, in their namespaces. */
    public static List<JsonObject> roles() {
        return TEXT.of("Role");
    }

    /** The RoleBindings, in their namespaces. */
    public static List<JsonObject> roleBindings() {
        return TEXT.of("RoleBinding");
    }

    /** The rules of a built-in ClusterRole. */
    public static List<PolicyRule> rulesOf(String clusterRole) {
        return clusterRoles().stream()
                .filter(role -> role.object("metadata").text("name").equals(clusterRole))
                .findFirst()
                .map(PolicyRule::listOf)
                .orElseThrow(() -> new IllegalArgumentException("no built-in ClusterRole \"" + clusterRole + "\""));
    }
}
