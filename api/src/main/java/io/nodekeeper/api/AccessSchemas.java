package io.nodekeeper.api;

import static io.nodekeeper.api.Schema.Scalar.BOOLEAN;
import static io.nodekeeper.api.Schema.Scalar.INTEGER;
import static io.nodekeeper.api.Schema.Scalar.STRING;
import static io.nodekeeper.api.Schema.Scalar.TIME;
import static io.nodekeeper.api.Schema.list;
import static io.nodekeeper.api.Schema.map;
import static io.nodekeeper.api.Schema.object;

/** The shapes of the kinds that say who may do what, and of the reviews that ask about it: facts of Kubernetes' API types. */
public final class AccessSchemas {
    private AccessSchemas() {}

    private static final Schema RULES = list(object(
            "verbs", list(STRING),
            "apiGroups", list(STRING),
            "resources", list(STRING),
            "resourceNames", list(STRING),
            "nonResourceURLs", list(STRING)));

    /** Role of rbac.authorization.k8s.io/v1. */
    public static final Schema ROLE = Schemas.plain("rules", RULES);

    /** ClusterRole of rbac.authorization.k8s.io/v1. */
    public static final Schema CLUSTER_ROLE = Schemas.plain(
            "rules", RULES, "aggregationRule", object("clusterRoleSelectors", list(Schemas.LABEL_SELECTOR)));

    /** RoleBinding and ClusterRoleBinding of rbac.authorization.k8s.io/v1. */
    public static final Schema BINDING = Schemas.plain(
            "subjects",
            list(object("kind", STRING, "apiGroup", STRING, "name", STRING, "namespace", STRING)),
            "roleRef",
            object("apiGroup", STRING, "kind", STRING, "name", STRING));

    private static final Schema USER =
            object("username", STRING, "uid", STRING, "groups", list(STRING), "extra", map(list(STRING)));

    /** TokenReview of authentication.k8s.io/v1. */
    public static final Schema TOKEN_REVIEW = Schemas.kind(
            object("token", STRING, "audiences", list(STRING)),
            object("authenticated", BOOLEAN, "user", USER, "audiences", list(STRING), "error", STRING));

    /** SelfSubjectReview of authentication.k8s.io/v1. */
    public static final Schema SELF_SUBJECT_REVIEW = Schemas.kind(object(), object("userInfo", USER));

    /** TokenRequest of authentication.k8s.io/v1. */
    public static final Schema TOKEN_REQUEST = Schemas.kind(
            object(
                    "audiences",
                    list(STRING),
                    "expirationSeconds",
                    INTEGER,
                    "boundObjectRef",
                    object("kind", STRING, "apiVersion", STRING, "name", STRING, "uid", STRING)),
            object("token", STRING, "expirationTimestamp", TIME));

    private static final Schema FIELD_SELECTOR = object(
            "rawSelector",
            STRING,
            "requirements",
            list(object("key", STRING, "operator", STRING, "values", list(STRING))));

    private static final Schema RESOURCE_ATTRIBUTES = object(
            "namespace", STRING,
            "verb", STRING,
            "group", STRING,
            "version", STRING,
            "resource", STRING,
            "subresource", STRING,
            "name", STRING,
            "fieldSelector", FIELD_SELECTOR,
            "labelSelector", FIELD_SELECTOR);

    private static final Schema ACCESS_STATUS =
            object("allowed", BOOLEAN, "denied", BOOLEAN, "reason", STRING, "evaluationError", STRING);

    /** SubjectAccessReview and LocalSubjectAccessReview of authorization.k8s.io/v1. */
    public static final Schema SUBJECT_ACCESS_REVIEW = Schemas.kind(
            object(
                    "resourceAttributes",
                    RESOURCE_ATTRIBUTES,
                    "nonResourceAttributes",
                    object("path", STRING, "verb", STRING),
                    "user",
                    STRING,
                    "groups",
                    list(STRING),
                    "extra",
                    map(list(STRING)),
                    "uid",
                    STRING),
            ACCESS_STATUS);

    /** SelfSubjectAccessReview of authorization.k8s.io/v1. */
    public static final Schema SELF_SUBJECT_ACCESS_REVIEW = Schemas.kind(
            object(
                    "resourceAttributes",
                    RESOURCE_ATTRIBUTES,
                    "nonResourceAttributes",
                    object("path", STRING, "verb", STRING)),
            ACCESS_STATUS);

    /** SelfSubjectRulesReview of authorization.k8s.io/v1. */
    public static final Schema SELF_SUBJECT_RULES_REVIEW = Schemas.kind(
            object("namespace", STRING),
            object(
                    "resourceRules",
                    RULES,
                    "nonResourceRules",
                    RULES,
                    "incomplete",
                    BOOLEAN,
                    "evaluationError",
                    STRING));
}
