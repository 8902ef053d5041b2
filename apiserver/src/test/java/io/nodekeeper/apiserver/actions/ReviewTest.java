package io.nodekeeper.apiserver.actions;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.apiserver.request.User;
import io.nodekeeper.apiserver.testing.TestServer;
import io.nodekeeper.apiserver.testing.TestServer.Answer;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Access reviews, as {@code kubectl auth} sends them. */
class ReviewTest {
    private static final String AUTHORIZATION = "/apis/authorization.k8s.io/v1/";
    private static final String PODS =
            "{\"resourceAttributes\":{\"namespace\":\"default\",\"verb\":\"list\",\"resource\":\"pods\"}";

    private final TestServer server = TestServer.withRoles();

    private Answer ask(User user, String review, String spec) {
        return server.ask(user, "POST", AUTHORIZATION + review, "{\"spec\":" + spec + "}");
    }

    private JsonObject status(User user, String review, String spec) {
        Answer answer = ask(user, review, spec);
        assertThat(answer.status()).as(answer.text()).isEqualTo(201);
        return answer.json().object("status");
    }

    @Test
    @Tag("W81")
    void selfSubjectAccessReviewHasTheDecisionAndItsReason() {
        assertThat(status(TestServer.ALICE, "selfsubjectaccessreviews", PODS + "}"))
                .hasToString("{\"allowed\":false}");
        server.post(
                "/apis/rbac.authorization.k8s.io/v1/namespaces/default/rolebindings",
                "{\"metadata\":{\"name\":\"b\"},\"roleRef\":{\"kind\":\"ClusterRole\",\"name\":\"view\"},\"subjects\":[{\"kind\":\"User\",\"name\":\"alice\"}]}");
        Answer answer = ask(TestServer.ALICE, "selfsubjectaccessreviews", PODS + "}");
        assertThat(answer.json().object("status"))
                .hasToString(
                        "{\"allowed\":true,\"reason\":\"RBAC: allowed by RoleBinding \\\"b/default\\\" of ClusterRole \\\"view\\\" to User \\\"alice\\\"\"}");
        assertThat(answer.json().object("spec")).hasToString(PODS + "}");
        assertThat(answer.json().text("kind")).isEqualTo("SelfSubjectAccessReview");
        assertThat(status(TestServer.ADMIN, "selfsubjectaccessreviews", PODS + "}"))
                .hasToString("{\"allowed\":true}");
        assertThat(
                        status(
                                TestServer.N1,
                                "selfsubjectaccessreviews",
                                "{\"resourceAttributes\":{\"verb\":\"list\",\"group\":\"coordination.k8s.io\",\"resource\":\"leases\",\"namespace\":\"kube-node-lease\"}}"))
                .hasToString(
                        "{\"allowed\":false,\"reason\":\"can only get, create, update, patch, or delete a node lease\"}");
        assertThat(status(
                        User.authenticated("bob", List.of()),
                        "selfsubjectaccessreviews",
                        "{\"nonResourceAttributes\":{\"path\":\"/metrics\",\"verb\":\"get\"}}"))
                .hasToString("{\"allowed\":false}");
    }

    @Test
    void subjectAccessReviewNeedsARightAndHasTheDecision() {
        String alice = ",\"user\":\"alice\",\"groups\":[\"system:masters\"]}";
        assertThat(status(TestServer.ADMIN, "subjectaccessreviews", PODS + alice))
                .hasToString("{\"allowed\":true}");
        assertThat(status(TestServer.ADMIN, "subjectaccessreviews", PODS + ",\"user\":\"alice\"}"))
                .hasToString("{\"allowed\":false}");
        assertThat(ask(TestServer.ALICE, "subjectaccessreviews", PODS + alice).status())
                .isEqualTo(403);
        assertThat(ask(TestServer.ADMIN, "subjectaccessreviews", PODS + "}").message())
                .isEqualTo(
                        "SubjectAccessReview.authorization.k8s.io \"\" is invalid: spec.user: Invalid value: \"\": at least one of user or group must be specified");
        assertThat(ask(TestServer.ADMIN, "selfsubjectaccessreviews", "{}").message())
                .endsWith("exactly one of nonResourceAttributes or resourceAttributes must be specified");
        assertThat(status(TestServer.ADMIN, "namespaces/default/localsubjectaccessreviews", PODS + alice))
                .hasToString("{\"allowed\":true}");
        assertThat(ask(TestServer.ADMIN, "namespaces/kube-system/localsubjectaccessreviews", PODS + alice)
                        .message())
                .isEqualTo("spec.resourceAttributes.namespace must match namespace: kube-system");
    }

    @Test
    void selfSubjectRulesReviewListsTheRules() {
        String spec = "{\"namespace\":\"default\"}";
        JsonObject alice = status(TestServer.ALICE, "selfsubjectrulesreviews", spec);
        assertThat(alice.array("resourceRules"))
                .hasToString(
                        "[{\"verbs\":[\"create\"],\"apiGroups\":[\"authorization.k8s.io\"],\"resources\":[\"selfsubjectaccessreviews\",\"selfsubjectrulesreviews\"]},{\"verbs\":[\"create\"],\"apiGroups\":[\"authentication.k8s.io\"],\"resources\":[\"selfsubjectreviews\"]}]");
        assertThat(alice.array("nonResourceRules").toString())
                .contains("/version")
                .contains("/api/*");
        assertThat(alice.get("incomplete")).hasToString("Optional[false]");
        assertThat(status(TestServer.ADMIN, "selfsubjectrulesreviews", spec).array("resourceRules"))
                .hasToString("[{\"verbs\":[\"*\"],\"apiGroups\":[\"*\"],\"resources\":[\"*\"]}]");
        assertThat(status(TestServer.N1, "selfsubjectrulesreviews", spec).text("evaluationError"))
                .isEqualTo("node authorizer does not support user rule resolution");
    }

    @Test
    void rulesOfARoleAreListedOnceHoweverManyBindingsGrantIt() {
        String rbac = "/apis/rbac.authorization.k8s.io/v1/namespaces/default/";
        server.post(rbac + "roles", """
                {"metadata": {"name": "r"}, "rules": [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}]}""");
        for (int i = 0; i < 5; i++) {
            server.post(rbac + "rolebindings", """
                    {"metadata": {"name": "b%d"}, "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role",
                     "name": "r"}, "subjects": [{"kind": "User", "name": "alice"},
                     {"kind": "Group", "name": "system:authenticated"}]}""".formatted(i));
        }
        server.settle();

        JsonObject alice = status(TestServer.ALICE, "selfsubjectrulesreviews", "{\"namespace\":\"default\"}");

        assertThat(alice.array("resourceRules").toString())
                .containsOnlyOnce("{\"verbs\":[\"get\"],\"apiGroups\":[\"\"],\"resources\":[\"pods\"]}");
    }

    @Test
    void reviewWithoutANamespaceGetsNoneWhateverTheBodySays() {
        Answer review = server.post(
                "/apis/authentication.k8s.io/v1/selfsubjectreviews", "{\"metadata\":{\"namespace\":\"default\"}}");

        assertThat(review.status()).as(review.text()).isEqualTo(201);
        assertThat(review.json().object("metadata").has("namespace")).isFalse();
    }

    @Test
    void selfSubjectReviewNamesTheAuthenticatedUser() {
        String whoami = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
        assertThat(server.ask(TestServer.ALICE, "POST", whoami, "{}").json())
                .hasToString(
                        "{\"kind\":\"SelfSubjectReview\",\"apiVersion\":\"authentication.k8s.io/v1\",\"metadata\":{},\"spec\":{},\"status\":{\"userInfo\":{\"username\":\"alice\",\"groups\":[\"system:authenticated\"]}}}");
        assertThat(server.ask(User.ANONYMOUS, "POST", whoami, "{}").status()).isEqualTo(403);
        assertThat(server.ask(TestServer.ALICE, "GET", whoami, "").status()).isEqualTo(403);
        assertThat(server.get(whoami).status()).isEqualTo(405);
        long revision = server.store.revision();
        server.post(whoami, "{}");
        assertThat(server.store.revision()).isEqualTo(revision);
    }

    @Test
    void bodyOfAnotherKindIsRefused() {
        assertThat(server.post(AUTHORIZATION + "selfsubjectaccessreviews", "{\"kind\":\"Pod\"}")
                        .status())
                .isEqualTo(400);
        assertThat(server.post(AUTHORIZATION + "selfsubjectaccessreviews", "{\"spec\":[]}")
                        .status())
                .isEqualTo(400);
    }

    private static String pods(String selector) {
        return "{\"resourceAttributes\":{\"verb\":\"list\",\"resource\":\"pods\"," + selector.replace('\'', '"')
                + "},\"user\":\"system:node:n1\",\"groups\":[\"system:nodes\"]}";
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '~',
            value = {
                "'fieldSelector':{'rawSelector':'spec.nodeName=n1'} | {'allowed':true}",
                "'fieldSelector':{'requirements':[{'key':'spec.nodeName','operator':'In','values':['n1']}]} | {'allowed':true}",
                "'fieldSelector':{'requirements':[{'key':'spec.nodeName','operator':'In','values':['n1']},{'key':'x','operator':'Near'}]} | {'allowed':true,'evaluationError':'spec.resourceAttributes.fieldSelector partially ignored due to parse error'}",
                "'fieldSelector':{'rawSelector':'spec.nodeName=n1'},'labelSelector':{'rawSelector':'!!'} | {'allowed':true,'evaluationError':'spec.resourceAttributes.labelSelector ignored due to parse error'}",
            })
    void selectorOfAReviewRestrictsTheRequest(String selector, String status) {
        assertThat(status(TestServer.ADMIN, "subjectaccessreviews", pods(selector)))
                .hasToString(status.replace('\'', '"'));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '~',
            value = {
                "'fieldSelector':{'rawSelector':'spec.nodeName=n2'} | ",
                "'fieldSelector':{'rawSelector':'spec.nodeName!=n1'} | ",
                "'fieldSelector':{'rawSelector':'spec.nodeName'} | spec.resourceAttributes.fieldSelector ignored due to parse error",
                "'fieldSelector':{'requirements':[{'key':'spec.nodeName','operator':'NotIn','values':['n1']}]} | ",
                "'fieldSelector':{'requirements':[{'key':'spec.nodeName','operator':'In','values':['n1','n2']}]} | spec.resourceAttributes.fieldSelector ignored due to parse error",
            })
    void selectorThatDoesNotRestrictGrantsNothing(String selector, String error) {
        JsonObject status = status(TestServer.ADMIN, "subjectaccessreviews", pods(selector));
        assertThat(status.bool("allowed")).isFalse();
        assertThat(status.text("evaluationError")).isEqualTo(error == null ? "" : error);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '~',
            value = {
                "'fieldSelector':{} | spec.resourceAttributes.fieldSelector.requirements: Required value: when spec.resourceAttributes.fieldSelector is specified, requirements or rawSelector is required",
                "'labelSelector':{'rawSelector':'a=b','requirements':[{'key':'a','operator':'Exists'}]} | spec.resourceAttributes.labelSelector.rawSelector: Invalid value: \"a=b\": may not specified at the same time as requirements",
                "'labelSelector':{'requirements':[{'key':'a','operator':'In'}]} | spec.resourceAttributes.labelSelector.requirements[0].values: Required value: must be specified when `operator` is 'In' or 'NotIn'",
                "'fieldSelector':{'requirements':[{'key':'','operator':'Exists'}]} | spec.resourceAttributes.fieldSelector.requirements[0].key: Required value: must be specified",
            })
    void malformedSelectorIsRefused(String selector, String why) {
        Answer answer = ask(TestServer.ADMIN, "subjectaccessreviews", pods(selector));
        assertThat(answer.status()).as(answer.text()).isEqualTo(422);
        assertThat(answer.message()).endsWith(why);
    }
}
