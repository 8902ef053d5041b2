package io.nodekeeper.apiserver.authorization.rbac;

import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonObject;
import java.util.List;

/**
 * A RoleBinding, or a ClusterRoleBinding if it has no namespace. Immutable.
 *
 * @param namespace the namespace in which it grants; empty for all
 * @param name the name
 * @param roleKind {@code Role} or {@code ClusterRole}
 * @param roleName the name of the role
 * @param subjects the users, groups and service accounts that get the rights
 */
public record Binding(String namespace, String name, String roleKind, String roleName, List<Subject> subjects) {
    /** The fields that {@link #of} reads, for {@link Json#parseFields}. */
    public static final JsonObject FIELDS = Json.parseObject("""
            {"metadata": {"namespace": true, "name": true}, "roleRef": {"kind": true, "name": true},
             "subjects": {"kind": true, "name": true, "namespace": true}}
            """);

    /** The prefix of the user names of service accounts. */
    public static final String ACCOUNT_PREFIX = "system:serviceaccount:";

    /**
     * A user, group or service account.
     *
     * @param kind {@code User}, {@code Group} or {@code ServiceAccount}
     * @param name the name
     * @param namespace the namespace of a service account
     */
    public record Subject(String kind, String name, String namespace) {}

    /** Copies {@code subjects}. */
    public Binding {
        subjects = List.copyOf(subjects);
    }

    /** Reads a RoleBinding or ClusterRoleBinding. */
    public static Binding of(JsonObject object) {
        JsonObject metadata = object.object("metadata");
        JsonObject role = object.object("roleRef");
        return new Binding(
                metadata.text("namespace"),
                metadata.text("name"),
                role.text("kind"),
                role.text("name"),
                object.array("subjects")
                        .objects()
                        .map(subject -> subject(subject, metadata.text("namespace")))
                        .toList());
    }

    /** A subject; a service account without a namespace is in {@code own}, that of the binding. */
    private static Subject subject(JsonObject subject, String own) {
        String kind = subject.text("kind");
        String namespace = subject.text("namespace");
        boolean here = namespace.isEmpty() && kind.equals("ServiceAccount");
        return new Subject(kind, subject.text("name"), here ? own : namespace);
    }

    /** The reason of a decision to allow a request, in Kubernetes' words, without the subject. */
    public String reason() {
        String binding = namespace.isEmpty()
                ? "ClusterRoleBinding \"" + name + "\""
                : "RoleBinding \"" + name + "/" + namespace + "\"";
        return "RBAC: allowed by " + binding + " of " + roleKind + " \"" + roleName + "\"";
    }
}
