package io.nodekeeper.apiserver.authorization.rbac;

import io.nodekeeper.api.json.JsonObject;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;

/**
 * The roles and bindings that a server has from its first start: those of Kubernetes, and those that Nodekeeper's own
 * controller needs. Their source is the resource {@code built-in-roles.txt}. Rules are listed for resources that this
 * server does not serve, too, as Kubernetes lists them. Immutable.
 */
public final class BuiltInRoles {
    /** Unless this annotation is {@code false}, a server adds at its start what a built-in object lacks. */
    public static final String AUTO_UPDATE = RoleText.AUTO_UPDATE;

    /** Roles that collect rules, and the role that holds the rules which such a role had before roles could collect. */
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

    /** The ClusterRoles; those with an aggregation rule have the rules that follow from the others. */
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
