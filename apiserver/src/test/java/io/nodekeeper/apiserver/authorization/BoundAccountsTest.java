package io.nodekeeper.apiserver.authorization;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.apiserver.request.User;
import io.nodekeeper.apiserver.testing.TestServer;
import io.nodekeeper.apiserver.testing.TestServer.Answer;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Service accounts as the subjects of bindings. */
class BoundAccountsTest {
    private static final String RBAC = "/apis/rbac.authorization.k8s.io/v1/namespaces/default";
    private static final String PODS = "/api/v1/namespaces/default/pods";

    private final TestServer server = TestServer.withRoles();

    private Answer listedBy(String account) {
        User user = User.authenticated("system:serviceaccount:" + account, List.of());
        return server.ask(user, "GET", PODS, Map.of(), "");
    }

    @Test
    void accountWithoutANamespaceIsInThatOfTheRoleBinding() {
        // given a binding with such a subject
        Answer created = server.post(RBAC + "/rolebindings", """
                {"metadata": {"name": "b"}, "roleRef": {"kind": "ClusterRole", "name": "view"},
                 "subjects": [{"kind": "ServiceAccount", "name": "a"}]}
                """);
        assertThat(created.status()).as(created.text()).isEqualTo(201);

        // then it grants to the account of its own namespace only
        assertThat(listedBy("default:a").status()).isEqualTo(200);
        assertThat(listedBy("other:a").status()).isEqualTo(403);
        assertThat(listedBy(":a").status()).isEqualTo(403);
    }

    @Test
    void reasonOfADecisionNamesTheNamespace() {
        server.post(RBAC + "/rolebindings", """
                {"metadata": {"name": "b"}, "roleRef": {"kind": "ClusterRole", "name": "view"},
                 "subjects": [{"kind": "ServiceAccount", "name": "a"}]}
                """);

        Answer review = server.post("/apis/authorization.k8s.io/v1/subjectaccessreviews", """
                {"spec": {"user": "system:serviceaccount:default:a",
                 "resourceAttributes": {"verb": "list", "resource": "pods", "namespace": "default"}}}
                """);

        assertThat(review.json().object("status").text("reason"))
                .isEqualTo("RBAC: allowed by RoleBinding \"b/default\" of ClusterRole \"view\" to ServiceAccount"
                        + " \"a/default\"");
    }
}
