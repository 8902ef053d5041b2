package io.nodekeeper.apiserver.catalogue;

import io.nodekeeper.api.ResourceType;
import io.nodekeeper.apiserver.kinds.access.RoleBindingStrategy;
import io.nodekeeper.apiserver.kinds.access.RoleStrategy;
import io.nodekeeper.apiserver.printers.Tables;
import io.nodekeeper.apiserver.registry.Resource;
import java.util.List;
import java.util.stream.Stream;

/** The resources of authorization: roles, bindings and access reviews, as in Kubernetes. */
public final class AccessResources {
    public static final String RBAC = "rbac.authorization.k8s.io";
    private static final String AUTHORIZATION = "authorization.k8s.io";
    private static final String AUTHENTICATION = "authentication.k8s.io";

    public static final Resource ROLES = Resource.stored(new ResourceType(RBAC, "v1", "roles", "Role", true), "roles")
            .strategy(new RoleStrategy(true))
            .table(Tables.ROLES);

    public static final Resource ROLE_BINDINGS = Resource.stored(
                    new ResourceType(RBAC, "v1", "rolebindings", "RoleBinding", true), "rolebindings")
            .strategy(new RoleBindingStrategy(true))
            .table(Tables.ROLE_BINDINGS);

    public static final Resource CLUSTER_ROLES = Resource.stored(
                    new ResourceType(RBAC, "v1", "clusterroles", "ClusterRole", false), "clusterroles")
            .strategy(new RoleStrategy(false))
            .table(Tables.ROLES);

    public static final Resource CLUSTER_ROLE_BINDINGS = Resource.stored(
                    new ResourceType(RBAC, "v1", "clusterrolebindings", "ClusterRoleBinding", false),
                    "clusterrolebindings")
            .strategy(new RoleBindingStrategy(false))
            .table(Tables.ROLE_BINDINGS);

    public static final Resource TOKEN_REVIEWS = asked(AUTHENTICATION, "tokenreviews", "TokenReview", false);
    public static final Resource SELF_SUBJECT_REVIEWS =
            asked(AUTHENTICATION, "selfsubjectreviews", "SelfSubjectReview", false);
    public static final Resource SUBJECT_ACCESS_REVIEWS =
            asked(AUTHORIZATION, "subjectaccessreviews", "SubjectAccessReview", false);
    public static final Resource LOCAL_SUBJECT_ACCESS_REVIEWS =
            asked(AUTHORIZATION, "localsubjectaccessreviews", "LocalSubjectAccessReview", true);
    public static final Resource SELF_SUBJECT_ACCESS_REVIEWS =
            asked(AUTHORIZATION, "selfsubjectaccessreviews", "SelfSubjectAccessReview", false);
    public static final Resource SELF_SUBJECT_RULES_REVIEWS =
            asked(AUTHORIZATION, "selfsubjectrulesreviews", "SelfSubjectRulesReview", false);

    /** Roles and bindings, which decide authorization. */
    public static final List<Resource> STORED = List.of(CLUSTER_ROLES, CLUSTER_ROLE_BINDINGS, ROLES, ROLE_BINDINGS);

    /** Whether {@code resource} is one of roles. */
    public static boolean isRole(Resource resource) {
        return resource.equals(ROLES) || resource.equals(CLUSTER_ROLES);
    }

    static final List<Resource> ALL = Stream.concat(
                    STORED.stream(),
                    Stream.of(
                            TOKEN_REVIEWS,
                            SELF_SUBJECT_REVIEWS,
                            SUBJECT_ACCESS_REVIEWS,
                            LOCAL_SUBJECT_ACCESS_REVIEWS,
                            SELF_SUBJECT_ACCESS_REVIEWS,
                            SELF_SUBJECT_RULES_REVIEWS))
            .toList();

    private AccessResources() {}

    private static Resource asked(String group, String plural, String kind, boolean namespaced) {
        return Resource.asked(new ResourceType(group, "v1", plural, kind, namespaced));
    }
}
