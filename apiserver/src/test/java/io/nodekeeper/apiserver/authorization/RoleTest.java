package io.nodekeeper.apiserver.authorization;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonArray;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.api.json.JsonValue;
import io.nodekeeper.api.yaml.Yaml;
import io.nodekeeper.apiserver.catalogue.AccessResources;
import io.nodekeeper.apiserver.request.User;
import io.nodekeeper.apiserver.testing.TestServer;
import io.nodekeeper.apiserver.testing.TestServer.Answer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Roles and bindings: storage, validation, immediate effect, and the prevention of privilege escalation. */
class RoleTest {
    private static final String RBAC = "/apis/rbac.authorization.k8s.io/v1";
    private static final String CLUSTER_ROLES = RBAC + "/clusterroles";
    private static final String CLUSTER_BINDINGS = RBAC + "/clusterrolebindings";
    private static final String ROLES = RBAC + "/namespaces/default/roles";
    private static final String BINDINGS = RBAC + "/namespaces/default/rolebindings";
    private static final String PODS = "/api/v1/namespaces/default/pods";

    private final TestServer server = TestServer.withRoles();

    private static String role(String name, String rules) {
        return "{\"metadata\":{\"name\":\"" + name + "\"},\"rules\":[" + rules + "]}";
    }

    private static String rule(String group, String resource, String verbs) {
        return "{\"apiGroups\":[\"" + group + "\"],\"resources\":[\"" + resource + "\"],\"verbs\":[\""
                + verbs.replace(" ", "\",\"") + "\"]}";
    }

    private static String binding(String name, String kind, String role, String user) {
        return "{\"metadata\":{\"name\":\"" + name + "\"},\"roleRef\":{\"kind\":\"" + kind + "\",\"name\":\"" + role
                + "\"},\"subjects\":[{\"kind\":\"User\",\"name\":\"" + user + "\"}]}";
    }

    private Answer as(User user, String method, String uri, String body) {
        return server.ask(
                user, method, uri, method.equals("PATCH") ? Map.of("content-type", TestServer.MERGE) : Map.of(), body);
    }

    private void created(String uri, String body) {
        Answer answer = server.post(uri, body);
        assertThat(answer.status()).as(answer.text()).isEqualTo(201);
    }

    @Test
    void roleAndBindingApplyAtOnceAndUntilTheyAreDeleted() {
        assertThat(as(TestServer.ALICE, "GET", PODS, "").status()).isEqualTo(403);
        created(ROLES, role("reader", rule("", "pods", "get list")));
        created(BINDINGS, binding("alice-reads", "Role", "reader", "alice"));
        assertThat(as(TestServer.ALICE, "GET", PODS, "").status()).isEqualTo(200);
        // in that namespace only, and only these verbs
        assertThat(as(TestServer.ALICE, "GET", "/api/v1/namespaces/kube-system/pods", "")
                        .status())
                .isEqualTo(403);
        assertThat(as(TestServer.ALICE, "GET", "/api/v1/pods", "").status()).isEqualTo(403);
        assertThat(as(TestServer.ALICE, "GET", PODS + "?watch=true", "").message())
                .contains("cannot watch");
        assertThat(server.delete(BINDINGS + "/alice-reads", "").status()).isEqualTo(200);
        assertThat(as(TestServer.ALICE, "GET", PODS, "").status()).isEqualTo(403);
    }

    @Test
    void namesOfNewRolesAndBindingsHaveAtMost253Characters() {
        String longest = "\u4e00".repeat(253);
        String longer = longest + "x";
        created(ROLES, role(longest, rule("", "pods", "get")));
        created(BINDINGS, binding(longest, "Role", longest, "alice"));

        assertThat(server.post(ROLES, role(longer, rule("", "pods", "get"))).message())
                .endsWith("metadata.name: Too long: must have at most 253 characters");
        assertThat(server.post(CLUSTER_ROLES, role(longer, rule("", "pods", "get")))
                        .status())
                .isEqualTo(422);
        assertThat(server.post(BINDINGS, binding(longer, "Role", "r", "alice")).message())
                .endsWith("metadata.name: Too long: must have at most 253 characters");
        assertThat(server.post(BINDINGS, binding("b", "Role", longer, "alice")).message())
                .endsWith("roleRef.name: Too long: must have at most 253 characters");
        assertThat(server.post(CLUSTER_BINDINGS, binding("b", "ClusterRole", longer, "alice"))
                        .status())
                .isEqualTo(422);
    }

    /** What an earlier server stored. */
    @Test
    void rolesAndBindingsWithLongerNamesCanBeReadChangedAndDeleted() {
        String name = "x".repeat(300);
        JsonObject metadata = JsonObject.EMPTY
                .with("name", name)
                .with("namespace", "default")
                .with("finalizers", JsonArray.ofStrings(List.of("example.com/f")));
        JsonObject role = Json.parseObject(role(name, rule("", "pods", "get"))).with("metadata", metadata);
        JsonObject binding =
                Json.parseObject(binding(name, "Role", name, "alice")).with("metadata", metadata);
        JsonObject whole =
                binding.update("roleRef", reference -> reference.with("apiGroup", "rbac.authorization.k8s.io"));
        server.store.put(AccessResources.ROLES.key("default", name), Json.writeBytes(role), 0);
        server.store.put(AccessResources.ROLE_BINDINGS.key("default", name), Json.writeBytes(whole), 0);
        server.settle();
        assertThat(as(TestServer.ALICE, "GET", PODS + "/p", "").status()).isEqualTo(404);

        for (String uri : List.of(BINDINGS + "/" + name, ROLES + "/" + name)) {
            assertThat(server.get(uri).status()).isEqualTo(200);
            assertThat(server.delete(uri, "").status()).isEqualTo(200);
            Answer released = server.patch(TestServer.MERGE, uri, "{\"metadata\":{\"finalizers\":null}}");
            assertThat(released.status()).as(released.text()).isEqualTo(200);
            assertThat(server.get(uri).status()).isEqualTo(404);
        }
        assertThat(as(TestServer.ALICE, "GET", PODS + "/p", "").status()).isEqualTo(403);
    }

    @Test
    @Tag("W81")
    void updateAndPatchCreateNothingWithoutTheRightToCreate() {
        created(
                CLUSTER_ROLES,
                role(
                        "changer",
                        rule("", "configmaps", "patch") + "," + rule("coordination.k8s.io", "leases", "update")));
        created(CLUSTER_BINDINGS, binding("changes", "ClusterRole", "changer", "alice"));
        String lease = "/apis/coordination.k8s.io/v1/namespaces/default/leases/l1";
        String map = "/api/v1/namespaces/default/configmaps/m1";
        String body = "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"data\":{\"a\":\"b\"}}";

        Answer updated = as(TestServer.ALICE, "PUT", lease, "{}");
        Answer applied = server.ask(
                TestServer.ALICE,
                "PATCH",
                map + "?fieldManager=m",
                Map.of("content-type", Yaml.APPLY_MEDIA_TYPE),
                body);

        assertThat(updated.message())
                .isEqualTo("leases.coordination.k8s.io \"l1\" is forbidden: User \"alice\" cannot create resource"
                        + " \"leases\" in API group \"coordination.k8s.io\" in the namespace \"default\"");
        assertThat(applied.status()).as(applied.text()).isEqualTo(403);
        // an existing object can be changed
        server.post("/api/v1/namespaces/default/configmaps", "{\"metadata\":{\"name\":\"m1\"}}");
        assertThat(server.ask(
                                TestServer.ALICE,
                                "PATCH",
                                map + "?fieldManager=m",
                                Map.of("content-type", Yaml.APPLY_MEDIA_TYPE),
                                body)
                        .status())
                .isEqualTo(200);
    }

    @Test
    void clusterRoleGrantsInTheNamespaceOfItsBinding() {
        created(CLUSTER_ROLES, role("node-reader", rule("", "nodes", "list") + "," + rule("", "pods", "*")));
        created(BINDINGS, binding("here", "ClusterRole", "node-reader", "alice"));
        assertThat(as(TestServer.ALICE, "GET", PODS, "").status()).isEqualTo(200);
        assertThat(as(TestServer.ALICE, "GET", "/api/v1/nodes", "").status()).isEqualTo(403);
        created(CLUSTER_BINDINGS, binding("everywhere", "ClusterRole", "node-reader", "alice"));
        assertThat(as(TestServer.ALICE, "GET", "/api/v1/nodes", "").status()).isEqualTo(200);
        assertThat(as(TestServer.ALICE, "GET", "/api/v1/pods", "").status()).isEqualTo(200);
    }

    @Test
    void roleInANamespaceCanGrantReadingTheNamespace() {
        created(ROLES, role("looker", rule("", "namespaces", "get")));
        created(BINDINGS, binding("alice-looks", "Role", "looker", "alice"));

        assertThat(as(TestServer.ALICE, "GET", "/api/v1/namespaces/default", "").status())
                .isEqualTo(200);
        assertThat(as(TestServer.ALICE, "GET", "/api/v1/namespaces/kube-system", "")
                        .message())
                .isEqualTo(
                        "namespaces \"kube-system\" is forbidden: User \"alice\" cannot get resource \"namespaces\" in API group \"\" in the namespace \"kube-system\"");
    }

    @Test
    void rightToOneNameAllowsAListOfThatName() {
        created(
                CLUSTER_ROLES,
                role(
                        "one",
                        "{\"apiGroups\":[\"\"],\"resources\":[\"nodes\"],\"resourceNames\":[\"n1\"],\"verbs\":[\"get\",\"list\",\"watch\"]}"));
        created(CLUSTER_BINDINGS, binding("one", "ClusterRole", "one", "alice"));
        assertThat(as(TestServer.ALICE, "GET", "/api/v1/nodes?fieldSelector=metadata.name%3Dn1", "")
                        .status())
                .isEqualTo(200);
        assertThat(as(TestServer.ALICE, "GET", "/api/v1/nodes?fieldSelector=metadata.name%3Dn2", "")
                        .message())
                .isEqualTo(
                        "nodes \"n2\" is forbidden: User \"alice\" cannot list resource \"nodes\" in API group \"\" at the cluster scope");
        assertThat(as(TestServer.ALICE, "GET", "/api/v1/nodes?fieldSelector=metadata.name!%3Dn1", "")
                        .status())
                .isEqualTo(403);
        assertThat(as(TestServer.ALICE, "GET", "/api/v1/nodes", "").status()).isEqualTo(403);
    }

    @Test
    void pathsAndSubresourcesNeedTheirOwnRules() {
        created(
                CLUSTER_ROLES,
                role(
                        "paths",
                        "{\"nonResourceURLs\":[\"/metrics\",\"/openapi/*\"],\"verbs\":[\"get\"]},"
                                + rule("", "nodes/status", "get")));
        assertThat(as(TestServer.ALICE, "GET", "/metrics", "").message())
                .isEqualTo("forbidden: User \"alice\" cannot get path \"/metrics\"");
        created(CLUSTER_BINDINGS, binding("paths", "ClusterRole", "paths", "alice"));
        assertThat(as(TestServer.ALICE, "GET", "/metrics", "").status()).isEqualTo(200);
        server.node("n1");
        assertThat(as(TestServer.ALICE, "GET", "/api/v1/nodes/n1/status", "").status())
                .isEqualTo(200);
        assertThat(as(TestServer.ALICE, "GET", "/api/v1/nodes/n1", "").status()).isEqualTo(403);
    }

    @Test
    void userCannotGrantRightsTheyDoNotHave() {
        created(
                CLUSTER_ROLES,
                role(
                        "role-writer",
                        rule("rbac.authorization.k8s.io", "clusterroles", "create update patch get") + ","
                                + rule("rbac.authorization.k8s.io", "clusterrolebindings", "create update patch") + ","
                                + rule("", "pods", "get")));
        created(CLUSTER_BINDINGS, binding("alice-writes", "ClusterRole", "role-writer", "alice"));

        // Alice can grant rights that she has
        assertThat(as(TestServer.ALICE, "POST", CLUSTER_ROLES, role("r", rule("", "pods", "get")))
                        .status())
                .isEqualTo(201);
        assertThat(as(TestServer.ALICE, "POST", CLUSTER_BINDINGS, binding("b", "ClusterRole", "r", "bob"))
                        .status())
                .isEqualTo(201);

        // but no others, neither by a role nor by a binding
        assertThat(as(TestServer.ALICE, "POST", CLUSTER_ROLES, role("x", rule("", "pods", "get delete list")))
                        .message())
                .isEqualTo(
                        "clusterroles.rbac.authorization.k8s.io \"x\" is forbidden: user \"alice\" (groups=[\"system:authenticated\"]) is attempting to grant RBAC permissions not currently held:\n{APIGroups:[\"\"], Resources:[\"pods\"], Verbs:[\"delete\" \"list\"]}");
        String more = "{\"rules\":[" + rule("*", "*", "*") + "]}";
        assertThat(as(TestServer.ALICE, "PATCH", CLUSTER_ROLES + "/r", more).status())
                .isEqualTo(403);
        assertThat(as(TestServer.ALICE, "POST", CLUSTER_BINDINGS, binding("c", "ClusterRole", "cluster-admin", "alice"))
                        .message())
                .isEqualTo(
                        "clusterrolebindings.rbac.authorization.k8s.io \"c\" is forbidden: user \"alice\" (groups=[\"system:authenticated\"]) is attempting to grant RBAC permissions not currently held:\n{APIGroups:[\"*\"], Resources:[\"*\"], Verbs:[\"*\"]}\n{NonResourceURLs:[\"*\"], Verbs:[\"*\"]}");
        assertThat(as(TestServer.ALICE, "POST", CLUSTER_BINDINGS, binding("c", "ClusterRole", "nope", "alice"))
                        .status())
                .isEqualTo(404);
        assertThat(as(
                                TestServer.ALICE,
                                "POST",
                                CLUSTER_ROLES,
                                "{\"metadata\":{\"name\":\"a\"},\"aggregationRule\":{\"clusterRoleSelectors\":[{\"matchLabels\":{\"a\":\"b\"}}]}}")
                        .message())
                .endsWith("must have cluster-admin privileges to use an aggregationRule");

        // owners and finalizers of all roles can be changed, because garbage collection does so
        assertThat(as(
                                TestServer.ALICE,
                                "PATCH",
                                CLUSTER_ROLES + "/cluster-admin",
                                "{\"metadata\":{\"finalizers\":[\"example.com/f\"]}}")
                        .status())
                .isEqualTo(200);
    }

    @Test
    void changesOfRolesAreCheckedEvenIfTheRulesStay() {
        // given Alice, who may write roles and bindings and read pods, and a role that deletes nodes
        created(
                CLUSTER_ROLES,
                role(
                        "role-writer",
                        rule("rbac.authorization.k8s.io", "clusterroles", "create update patch get") + ","
                                + rule("rbac.authorization.k8s.io", "clusterrolebindings", "create update patch") + ","
                                + rule("", "pods", "get")));
        created(CLUSTER_BINDINGS, binding("alice-writes", "ClusterRole", "role-writer", "alice"));
        created(CLUSTER_ROLES, role("deleter", rule("", "nodes", "delete")));
        String label = "{\"metadata\":{\"labels\":{\"rbac.authorization.k8s.io/aggregate-to-view\":\"true\"}}}";

        // when she adds the label that makes the role part of view
        Answer labelled = as(TestServer.ALICE, "PATCH", CLUSTER_ROLES + "/deleter", label);

        // then she is refused, as for a binding of cluster-admin and an aggregated role
        assertThat(labelled.message())
                .isEqualTo("clusterroles.rbac.authorization.k8s.io \"deleter\" is forbidden: user \"alice\""
                        + " (groups=[\"system:authenticated\"]) is attempting to grant RBAC permissions not currently"
                        + " held:\n{APIGroups:[\"\"], Resources:[\"nodes\"], Verbs:[\"delete\"]}");
        assertThat(as(TestServer.ALICE, "PATCH", CLUSTER_ROLES + "/view", "{\"aggregationRule\":null}")
                        .message())
                .endsWith("must have cluster-admin privileges to use an aggregationRule");
        assertThat(as(TestServer.ALICE, "PATCH", CLUSTER_BINDINGS + "/cluster-admin", label)
                        .status())
                .isEqualTo(403);
        // and she can label a role whose rights she has
        assertThat(as(TestServer.ALICE, "PATCH", CLUSTER_ROLES + "/role-writer", label)
                        .status())
                .isEqualTo(200);
    }

    @Test
    void aggregatedRoleHasTheRulesOfAllSelectedRoles() {
        // given
        String reader = rule("example.com", "foos", "get list");
        String label = "{\"metadata\":{\"labels\":{\"rbac.authorization.k8s.io/aggregate-to-view\":\"%s\"}}}";
        created(CLUSTER_ROLES, role("foo-reader", reader));
        created(
                CLUSTER_ROLES,
                "{\"metadata\":{\"name\":\"mine\"},\"aggregationRule\":{\"clusterRoleSelectors\":[{\"matchExpressions\":"
                        + "[{\"key\":\"team\",\"operator\":\"In\",\"values\":[\"a\",\"b\"]}]}]}}");
        assertThat(server.get(CLUSTER_ROLES + "/view").text()).doesNotContain("example.com");

        // when it gets the label of view
        server.patch(TestServer.MERGE, CLUSTER_ROLES + "/foo-reader", label.formatted("true"));

        // then view, edit and admin have its rule in addition to their own
        for (String name : List.of("view", "edit", "admin")) {
            assertThat(server.get(CLUSTER_ROLES + "/" + name).text())
                    .contains(reader)
                    .contains("poddisruptionbudgets");
        }

        // when the label is removed, or a user writes rules into view
        server.patch(TestServer.MERGE, CLUSTER_ROLES + "/foo-reader", label.formatted("false"));
        server.patch(
                TestServer.MERGE, CLUSTER_ROLES + "/view", "{\"rules\":[" + rule("example.com", "bars", "get") + "]}");
        // then these rules are removed
        for (String name : List.of("view", "edit", "admin")) {
            assertThat(server.get(CLUSTER_ROLES + "/" + name).text()).doesNotContain("example.com");
        }

        // and a user's own aggregated role has the rules of its selector, and they apply
        assertThat(server.get(CLUSTER_ROLES + "/mine").json().array("rules").isEmpty())
                .isTrue();
        created(CLUSTER_BINDINGS, binding("mine", "ClusterRole", "mine", "alice"));
        server.patch(
                TestServer.MERGE,
                CLUSTER_ROLES + "/foo-reader",
                "{\"metadata\":{\"labels\":{\"team\":\"b\"}},\"rules\":[" + rule("", "nodes", "list") + "]}");
        assertThat(as(TestServer.ALICE, "GET", "/api/v1/nodes", "").status()).isEqualTo(200);
        server.delete(CLUSTER_ROLES + "/foo-reader", "");
        assertThat(as(TestServer.ALICE, "GET", "/api/v1/nodes", "").status()).isEqualTo(403);
    }

    @Test
    void newSelectorFindsRolesWhoseLabelsNoSelectorHasLookedAt() {
        created(
                CLUSTER_ROLES,
                "{\"metadata\":{\"name\":\"foo-reader\",\"labels\":{\"team\":\"a\",\"other\":\"b\"}},\"rules\":["
                        + rule("example.com", "foos", "get") + "]}");

        created(
                CLUSTER_ROLES,
                "{\"metadata\":{\"name\":\"mine\"},\"aggregationRule\":{\"clusterRoleSelectors\":"
                        + "[{\"matchLabels\":{\"team\":\"a\"}}]}}");

        assertThat(server.get(CLUSTER_ROLES + "/mine").text()).contains("foos");
    }

    /** A role that selects more than an object may have keeps its rules, and has the others as soon as they fit. */
    @Test
    void aggregatedRolesAreAtMostAsLargeAsOtherObjects() {
        // given three roles of 0.7 MB that are part of view
        String label = "\"labels\":{\"rbac.authorization.k8s.io/aggregate-to-view\":\"true\"}";
        for (int i = 0; i < 3; i++) {
            created(
                    CLUSTER_ROLES,
                    "{\"metadata\":{\"name\":\"large-" + i + "\"," + label + "},\"rules\":["
                            + rule("example.com", "r" + i + "x".repeat(700_000), "get") + "]}");
        }
        // then only the first ones fit
        assertThat(server.get(CLUSTER_ROLES + "/view").text())
                .contains("r0xxx")
                .contains("r1xxx")
                .doesNotContain("r2xxx");
        // and with five their sum is not even computed
        for (int i = 3; i < 5; i++) {
            created(
                    CLUSTER_ROLES,
                    "{\"metadata\":{\"name\":\"large-" + i + "\"," + label + "},\"rules\":["
                            + rule("example.com", "r" + i + "x".repeat(700_000), "get") + "]}");
        }
        assertThat(server.get(CLUSTER_ROLES + "/view").text()).doesNotContain("r2xxx");

        // when others are deleted
        for (int i : new int[] {0, 1, 3, 4}) {
            server.delete(CLUSTER_ROLES + "/large-" + i, "");
        }

        assertThat(server.get(CLUSTER_ROLES + "/view").text())
                .contains("r2xxx")
                .contains("poddisruptionbudgets")
                .doesNotContain("r0xxx");
    }

    @Test
    void serverStartsWhateverWasAddedToABuiltInRole() {
        // given a role of Kubernetes whose rules were replaced by 300,000 others
        JsonObject role =
                server.get(CLUSTER_ROLES + "/system:aggregate-to-view").json();
        String verbs = "\"a\",".repeat(300_000) + "\"a\"";
        server.put(
                CLUSTER_ROLES + "/system:aggregate-to-view",
                role.with(
                                "rules",
                                Json.parse(
                                        "[{\"apiGroups\":[\"\"],\"resources\":[\"pods\"],\"verbs\":[" + verbs + "]}]"))
                        .toString());

        assertThat(server.server.start(Duration.ofHours(1))).isNotCompletedExceptionally();
        server.settle();
        assertThat(server.get("/readyz").status()).isEqualTo(200);
    }

    @Test
    void aggregatedRulesInAnotherOrderAreNotWritten() {
        // given view with its rules in the order of another controller
        JsonObject view = server.get(CLUSTER_ROLES + "/view").json();
        List<JsonValue> rules = new ArrayList<>(view.array("rules").items());
        Collections.reverse(rules);
        Answer written = server.put(
                CLUSTER_ROLES + "/view",
                view.with("rules", new JsonArray(rules)).toString());
        // then the server does not write it again
        assertThat(server.get(CLUSTER_ROLES + "/view").version()).isEqualTo(written.version());
    }

    @Test
    void customRulesFromBeforeAggregationAreKept() {
        // given a store in which view has custom rules and the roles that it aggregates are missing
        server.delete(CLUSTER_ROLES + "/system:aggregate-to-view", "");
        JsonObject view = server.get(CLUSTER_ROLES + "/view").json();
        server.put(
                CLUSTER_ROLES + "/view",
                view.without("aggregationRule")
                        .with("rules", Json.parse("[" + rule("example.com", "foos", "get") + "]"))
                        .toString());
        // when the server starts
        server.server.start(Duration.ofHours(1));
        server.settle();
        // then the custom rules are still part of view, edit and admin
        for (String name : List.of("system:aggregate-to-view", "view", "edit", "admin")) {
            assertThat(server.get(CLUSTER_ROLES + "/" + name).text())
                    .contains("\"foos\"")
                    .contains("poddisruptionbudgets");
        }
    }

    @Test
    void verbsEscalateAndBindAllowMore() {
        String rbac = "rbac.authorization.k8s.io";
        created(
                CLUSTER_ROLES,
                role(
                        "trusted",
                        rule(rbac, "clusterroles", "create escalate") + ","
                                + rule(rbac, "clusterrolebindings", "create")
                                + ",{\"apiGroups\":[\"" + rbac
                                + "\"],\"resources\":[\"clusterroles\"],\"resourceNames\":[\"view\"],\"verbs\":[\"bind\"]}"));
        created(CLUSTER_BINDINGS, binding("trusted", "ClusterRole", "trusted", "alice"));
        assertThat(as(TestServer.ALICE, "POST", CLUSTER_ROLES, role("x", rule("*", "*", "*")))
                        .status())
                .isEqualTo(201);
        assertThat(as(TestServer.ALICE, "POST", CLUSTER_BINDINGS, binding("v", "ClusterRole", "view", "bob"))
                        .status())
                .isEqualTo(201);
        assertThat(as(TestServer.ALICE, "POST", CLUSTER_BINDINGS, binding("e", "ClusterRole", "edit", "bob"))
                        .status())
                .isEqualTo(403);
    }

    @Test
    void rolesAndBindingsAreValidated() {
        assertThat(server.post(ROLES, role("r", "{\"verbs\":[],\"nonResourceURLs\":[\"/x\"]}"))
                        .message())
                .isEqualTo(
                        "Role.rbac.authorization.k8s.io \"r\" is invalid: [rules[0].verbs: Required value: verbs must contain at least one value, rules[0].nonResourceURLs: Invalid value: [\"/x\"]: namespaced rules cannot apply to non-resource URLs]");
        assertThat(server.post(CLUSTER_ROLES, role("r", "{\"verbs\":[\"get\"]}"))
                        .message())
                .contains("rules[0].apiGroups: Required value: resource rules must supply at least one api group")
                .contains("rules[0].resources: Required value: resource rules must supply at least one resource");
        assertThat(server.post(CLUSTER_BINDINGS, binding("b", "Role", "r", "u")).message())
                .isEqualTo(
                        "ClusterRoleBinding.rbac.authorization.k8s.io \"b\" is invalid: roleRef.kind: Unsupported value: \"Role\": supported values: \"ClusterRole\"");
        assertThat(server.post(
                                CLUSTER_BINDINGS,
                                "{\"metadata\":{\"name\":\"b\"},\"roleRef\":{\"kind\":\"ClusterRole\",\"name\":\"r\"},\"subjects\":[{\"kind\":\"ServiceAccount\",\"name\":\"a\"},{\"kind\":\"Dog\",\"name\":\"d\"}]}")
                        .message())
                .contains("subjects[0].namespace: Required value")
                .contains(
                        "subjects[1].kind: Unsupported value: \"Dog\": supported values: \"ServiceAccount\", \"User\", \"Group\"");
        assertThat(server.patch(
                                TestServer.MERGE,
                                CLUSTER_BINDINGS + "/cluster-admin",
                                "{\"roleRef\":{\"name\":\"view\"}}")
                        .message())
                .endsWith(": cannot change roleRef");
    }

    @Test
    void builtInRolesAreRestoredAtTheNextStart() {
        assertThat(server.get(CLUSTER_ROLES).names())
                .hasSize(64)
                .contains(
                        "cluster-admin",
                        "system:aggregate-to-edit",
                        "system:controller:namespace-controller",
                        "system:kube-scheduler",
                        "system:node-bootstrapper",
                        "system:node-problem-detector",
                        "system:node-proxier",
                        "system:volume-scheduler");
        assertThat(server.get(RBAC + "/namespaces/kube-system/roles").names())
                .containsExactly(
                        "extension-apiserver-authentication-reader",
                        "nodekeeper:controller",
                        "system::leader-locking-kube-controller-manager",
                        "system::leader-locking-kube-scheduler",
                        "system:controller:bootstrap-signer",
                        "system:controller:cloud-provider",
                        "system:controller:token-cleaner");
        assertThat(server.get(RBAC + "/namespaces/kube-public/rolebindings").names())
                .containsExactly("system:controller:bootstrap-signer");
        JsonObject discovery = server.get(CLUSTER_ROLES + "/system:discovery").json();
        assertThat(discovery.object("metadata").object("labels"))
                .hasToString("{\"kubernetes.io/bootstrapping\":\"rbac-defaults\"}");
        assertThat(server.store.get("/registry/clusterroles/system:discovery")).isPresent();
        assertThat(server.store.get("/registry/rolebindings/kube-system/nodekeeper:controller"))
                .isPresent();

        // given a deleted role, a role without some of its rules and with a custom one, and a role that opted out
        server.delete(CLUSTER_ROLES + "/view", "");
        String own = rule("example.com", "foos", "get");
        server.patch(TestServer.MERGE, CLUSTER_ROLES + "/system:aggregate-to-edit", "{\"rules\":[" + own + "]}");
        server.patch(
                TestServer.MERGE,
                CLUSTER_ROLES + "/system:kube-dns",
                "{\"metadata\":{\"annotations\":{\"rbac.authorization.kubernetes.io/autoupdate\":\"false\"}},\"rules\":[]}");
        server.patch(TestServer.MERGE, CLUSTER_BINDINGS + "/system:basic-user", "{\"subjects\":[]}");
        // when the server starts again
        server.server.start(Duration.ofHours(1));
        server.settle();
        // then
        assertThat(server.get(CLUSTER_ROLES + "/view").status()).isEqualTo(200);
        assertThat(server.get(CLUSTER_ROLES + "/edit").text()).contains(own).contains("poddisruptionbudgets");
        assertThat(server.get(CLUSTER_ROLES + "/system:kube-dns")
                        .json()
                        .array("rules")
                        .isEmpty())
                .isTrue();
        assertThat(server.get(CLUSTER_BINDINGS + "/system:basic-user").text())
                .contains(
                        "{\"kind\":\"Group\",\"apiGroup\":\"rbac.authorization.k8s.io\",\"name\":\"system:authenticated\"}");
    }

    @Test
    void tablesOfRolesHaveKubectlsColumns() {
        created(ROLES, role("reader", rule("", "pods", "get list")));
        created(
                BINDINGS,
                "{\"metadata\":{\"name\":\"b\"},\"roleRef\":{\"kind\":\"Role\",\"name\":\"reader\"},\"subjects\":[{\"kind\":\"User\",\"name\":\"u\"},{\"kind\":\"Group\",\"name\":\"g\"},{\"kind\":\"ServiceAccount\",\"name\":\"a\",\"namespace\":\"default\"}]}");
        Map<String, String> table = Map.of("accept", "application/json;as=Table;v=v1;g=meta.k8s.io");
        assertThat(server.ask(TestServer.ADMIN, "GET", ROLES, table, "").text())
                .contains("\"cells\":[\"reader\",\"2026-11-21T07:00:00Z\"]");
        assertThat(server.ask(TestServer.ADMIN, "GET", BINDINGS, table, "").text())
                .contains("\"cells\":[\"b\",\"Role/reader\",\"0s\",\"u\",\"g\",\"default/a\"]");
    }

    @Test
    @Tag("W11")
    void anonymousUserReadsOnlyHealthAndVersion() {
        for (String path : List.of("/healthz", "/livez", "/readyz", "/version")) {
            assertThat(as(User.ANONYMOUS, "GET", path, "").status()).as(path).isEqualTo(200);
        }
        for (String path : List.of("/", "/api", "/apis", "/openapi/v2", "/metrics", "/readyz/ping")) {
            assertThat(as(User.ANONYMOUS, "GET", path, "").message())
                    .isEqualTo("forbidden: User \"system:anonymous\" cannot get path \"" + path + "\"");
        }
    }

    @Test
    void impersonationNeedsTheRightForEachPart() {
        created(
                CLUSTER_ROLES,
                role(
                        "as",
                        "{\"apiGroups\":[\"\"],\"resources\":[\"users\"],\"resourceNames\":[\"bob\"],\"verbs\":[\"impersonate\"]},"
                                + "{\"apiGroups\":[\"\"],\"resources\":[\"groups\"],\"resourceNames\":[\"devs\"],\"verbs\":[\"impersonate\"]},"
                                + "{\"apiGroups\":[\"authentication.k8s.io\"],\"resources\":[\"userextras/scopes\"],\"resourceNames\":[\"a\"],\"verbs\":[\"impersonate\"]}"));
        created(CLUSTER_BINDINGS, binding("as", "ClusterRole", "as", "alice"));
        assertThat(impersonating(Map.of(
                        "impersonate-user", "bob", "impersonate-group", "devs", "impersonate-extra-scopes", "a")))
                .startsWith("nodes is forbidden: User \"bob\" cannot list");
        assertThat(impersonating(Map.of("impersonate-user", "carol"))).startsWith("users \"carol\" is forbidden");
        assertThat(impersonating(Map.of("impersonate-user", "bob", "impersonate-group", "devs\nsystem:masters")))
                .isEqualTo(
                        "groups \"system:masters\" is forbidden: User \"alice\" cannot impersonate resource \"groups\" in API group \"\" at the cluster scope");
        assertThat(impersonating(Map.of("impersonate-user", "bob", "impersonate-uid", "1")))
                .startsWith("uids.authentication.k8s.io \"1\" is forbidden: ");
        assertThat(impersonating(Map.of("impersonate-user", "bob", "impersonate-extra-scopes", "b")))
                .startsWith("userextras.authentication.k8s.io \"b\" is forbidden: ")
                .contains("cannot impersonate resource \"userextras/scopes\"");
        assertThat(impersonating(Map.of("impersonate-user", "system:serviceaccount:default:a")))
                .startsWith("serviceaccounts \"a\" is forbidden: ")
                .endsWith("in the namespace \"default\"");
        assertThat(impersonating(Map.of("impersonate-group", "devs"))).contains("without impersonating a user");
    }

    private String impersonating(Map<String, String> headers) {
        return server.ask(TestServer.ALICE, "GET", "/api/v1/nodes", headers, "").message();
    }
}
