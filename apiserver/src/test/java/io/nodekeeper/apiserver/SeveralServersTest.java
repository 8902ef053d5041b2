package io.nodekeeper.apiserver;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.apiserver.catalogue.Resources;
import io.nodekeeper.apiserver.request.ApiResponse;
import io.nodekeeper.apiserver.request.RequestTarget;
import io.nodekeeper.apiserver.request.User;
import io.nodekeeper.apiserver.testing.TestServer;
import io.nodekeeper.apiserver.testing.TestServer.Answer;
import io.nodekeeper.time.Randoms;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Two servers on one store; the cache of the second one lags behind the writes of the first one. */
class SeveralServersTest {
    private static final String N1 = "/api/v1/nodes/n1";
    private static final String LEASES = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases";

    private final TestServer first = new TestServer();
    private final LaggingStore view = new LaggingStore(first.store, first.loop);
    private final ApiServer second = new ApiServer(
            view, first.loop, Randoms.seeded(2), TestServer.serviceAccountAuthenticator(), "127.0.0.1:6443");

    @BeforeEach
    void start() {
        first.node("n1");
        CompletableFuture<Void> started = second.start(Duration.ofHours(1));
        first.settle();
        assertThat(started).isCompleted();
        view.late(true);
    }

    private Answer ask(String method, String uri, String body) {
        Map<String, String> headers = method.equals("PATCH") ? Map.of("content-type", TestServer.MERGE) : Map.of();
        return ask(TestServer.ADMIN, method, uri, headers, body);
    }

    private Answer ask(User user, String method, String uri, Map<String, String> headers, String body) {
        CompletableFuture<ApiResponse> answer =
                second.handle(TestServer.request(user, method, uri, headers, body.getBytes(StandardCharsets.UTF_8)));
        first.settle();
        return TestServer.answer(answer);
    }

    private static String labels(String labels) {
        return "{\"metadata\":{\"labels\":" + labels + "}}";
    }

    private static JsonObject labels(Answer answer) {
        return answer.json().object("metadata").object("labels");
    }

    @Test
    @Tag("W60")
    void listsAndGetsWithoutAVersionSeeWritesOfTheOtherServer() {
        first.node("n2");
        // any state will do
        assertThat(ask("GET", "/api/v1/nodes?resourceVersion=0", "").names()).containsExactly("n1");
        assertThat(ask("GET", "/api/v1/nodes/n2?resourceVersion=0", "").status())
                .isEqualTo(404);
        // the latest is asked for
        assertThat(ask("GET", "/api/v1/nodes/n2", "").status()).isEqualTo(200);
        assertThat(ask("GET", "/api/v1/nodes", "").names()).containsExactly("n1", "n2");
    }

    @Test
    @Tag("W60")
    void listOfAnotherServerCanBeContinuedHere() {
        first.node("n2");
        Answer page = first.get("/api/v1/nodes?limit=1");
        String token = page.json().object("metadata").text("continue");
        assertThat(ask("GET", "/api/v1/nodes?limit=1&continue=" + token, "").names())
                .containsExactly("n2");
    }

    @Test
    void patchAppliesToTheStateThatTheOtherServerWrote() {
        first.patch(TestServer.MERGE, N1, labels("{\"theirs\":\"1\"}"));
        Answer patched = ask("PATCH", N1, labels("{\"mine\":\"1\"}"));
        assertThat(patched.status()).isEqualTo(200);
        assertThat(labels(patched)).isEqualTo(labels(first.get(N1)));
        assertThat(labels(patched).fields().keySet()).containsExactlyInAnyOrder("theirs", "mine");
    }

    @Test
    void patchThatChangesNothingOnlyInTheCacheIsWritten() {
        first.patch(TestServer.MERGE, N1, labels("{\"color\":\"red\"}"));
        view.late(false);
        view.late(true);
        first.patch(TestServer.MERGE, N1, labels("{\"color\":\"blue\"}"));
        // in the second server's cache it is already red
        assertThat(ask("PATCH", N1, labels("{\"color\":\"red\"}")).status()).isEqualTo(200);
        assertThat(labels(first.get(N1)).text("color")).isEqualTo("red");
    }

    @Test
    void versionNewerThanTheCacheIsServed() {
        JsonObject newer =
                first.patch(TestServer.MERGE, N1, labels("{\"theirs\":\"1\"}")).json();
        JsonObject older = view.get("/registry/minions/n1")
                .map(Resources.find(new RequestTarget("", "v1", "nodes", "", "n1", ""))
                        .orElseThrow()
                        .codec()::decode)
                .orElseThrow();
        assertThat(ask("PUT", N1, newer.toString()).status()).isEqualTo(200);
        assertThat(ask("PUT", N1, older.toString()).status()).isEqualTo(409);
    }

    @Test
    void deletionSeesCreationsAndDeletionsOfTheOtherServer() {
        first.node("n2");
        assertThat(ask("DELETE", "/api/v1/nodes/n2", "").status()).isEqualTo(200);
        first.delete(N1, "");
        assertThat(ask("DELETE", N1, "").status()).isEqualTo(404);
        assertThat(ask("PATCH", N1, labels("{\"mine\":\"1\"}")).status()).isEqualTo(404);
    }

    @Test
    void leaseIsRenewedOrCreatedAfterWritesOfTheOtherServer() {
        String lease = "{\"metadata\":{\"name\":\"n1\"},\"spec\":{\"holderIdentity\":\"n1\"}}";
        // the other server creates the lease
        Answer made = first.post(LEASES, lease);
        assertThat(made.status()).isEqualTo(201);
        Answer renewed = ask("PUT", LEASES + "/n1", made.text());
        assertThat(renewed.status()).isEqualTo(200);
        // this server has the lease in its cache, and the other one deletes it
        view.late(false);
        view.late(true);
        assertThat(first.delete(LEASES + "/n1", "").status()).isEqualTo(200);
        assertThat(ask("PUT", LEASES + "/n1", renewed.text()).status()).isEqualTo(409);
        assertThat(ask("PUT", LEASES + "/n1", lease).status()).isEqualTo(201);
    }

    @Test
    void objectsCanBeCreatedInANamespaceOfTheOtherServer() {
        assertThat(first.post("/api/v1/namespaces", "{\"metadata\":{\"name\":\"new\"}}")
                        .status())
                .isEqualTo(201);
        assertThat(ask("POST", "/api/v1/namespaces/new/pods", TestServer.pod("p", ""))
                        .status())
                .isEqualTo(201);
        assertThat(ask("POST", "/api/v1/namespaces/none/pods", TestServer.pod("p", ""))
                        .status())
                .isEqualTo(404);
    }

    private static String podOf(String account) {
        return "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"p\"},\"spec\":{\"serviceAccountName\":\""
                + account + "\",\"containers\":[{\"name\":\"c\",\"image\":\"i\"}]}}";
    }

    private String accountOfTheOtherServer() {
        Answer made = first.post(
                "/api/v1/namespaces/default/serviceaccounts",
                "{\"metadata\":{\"name\":\"a\"},\"imagePullSecrets\":[{\"name\":\"s\"}]}");
        assertThat(made.status()).isEqualTo(201);
        return "/api/v1/namespaces/default/serviceaccounts/a";
    }

    private static void assertIsAdmitted(Answer pod) {
        assertThat(pod.status()).as(pod.text()).isEqualTo(201);
        JsonObject spec = pod.json().object("spec");
        assertThat(spec.array("imagePullSecrets")).hasToString("[{\"name\":\"s\"}]");
        assertThat(spec.array("volumes").objects()).hasSize(1);
    }

    @Test
    void newPodHasTheTokenAndSecretsOfAnAccountOfTheOtherServer() {
        accountOfTheOtherServer();

        assertIsAdmitted(ask("POST", "/api/v1/namespaces/default/pods", podOf("a")));
    }

    @Test
    void appliedPodHasTheTokenAndSecretsOfAnAccountOfTheOtherServer() {
        accountOfTheOtherServer();

        assertIsAdmitted(ask(
                TestServer.ADMIN,
                "PATCH",
                "/api/v1/namespaces/default/pods/p?fieldManager=m",
                Map.of("content-type", "application/apply-patch+yaml"),
                podOf("a")));
    }

    @Test
    void podOfAnAccountThatDoesNotExistIsCreated() {
        Answer pod = ask("POST", "/api/v1/namespaces/default/pods", podOf("none"));

        assertThat(pod.status()).as(pod.text()).isEqualTo(201);
        assertThat(pod.json().object("spec").has("imagePullSecrets")).isFalse();
    }

    @Test
    void podCanHaveAPriorityClassOfTheOtherServer() {
        accountOfTheOtherServer();
        first.post("/apis/scheduling.k8s.io/v1/priorityclasses", "{\"metadata\":{\"name\":\"urgent\"},\"value\":7}");

        Answer pod = ask(
                "POST",
                "/api/v1/namespaces/default/pods",
                podOf("a").replace("\"containers\"", "\"priorityClassName\":\"urgent\",\"containers\""));

        assertThat(pod.status()).as(pod.text()).isEqualTo(201);
        assertThat(pod.json().object("spec").number("priority")).contains(7L);
    }

    @Test
    void tokenIsIssuedForAnAccountAndAPodOfTheOtherServer() {
        String account = accountOfTheOtherServer();
        String uid = first.post("/api/v1/namespaces/default/pods", podOf("a"))
                .json()
                .object("metadata")
                .text("uid");

        Answer token = ask(
                "POST",
                account + "/token",
                "{\"spec\":{\"boundObjectRef\":{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"name\":\"p\",\"uid\":\"" + uid
                        + "\"}}}");

        assertThat(token.status()).as(token.text()).isEqualTo(201);
        assertThat(ask("POST", "/api/v1/namespaces/default/serviceaccounts/none/token", "{}")
                        .status())
                .isEqualTo(404);
    }

    @Test
    void roleOfTheOtherServerCanBeBoundByAUserWhoHasItsRights() {
        String roles = "/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles";
        String bindings = "/apis/rbac.authorization.k8s.io/v1/namespaces/default/rolebindings";
        String binding = "{\"metadata\":{\"name\":\"%s\"},\"roleRef\":{\"apiGroup\":\"rbac.authorization.k8s.io\","
                + "\"kind\":\"Role\",\"name\":\"%s\"},\"subjects\":[{\"apiGroup\":\"rbac.authorization.k8s.io\","
                + "\"kind\":\"User\",\"name\":\"alice\"}]}";
        String binder = "{\"metadata\":{\"name\":\"%s\"},\"rules\":[{\"apiGroups\":[\"rbac.authorization.k8s.io\"],"
                + "\"resources\":[\"rolebindings\"],\"verbs\":[\"create\"]}]}";
        first.post(roles, binder.formatted("binder"));
        first.post(bindings, binding.formatted("alice", "binder"));
        view.late(false);
        first.settle();
        view.late(true);
        first.post(roles, binder.formatted("new"));

        Answer bound = ask(TestServer.ALICE, "POST", bindings, Map.of(), binding.formatted("again", "new"));

        assertThat(bound.status()).as(bound.text()).isEqualTo(201);
    }

    @Test
    @Tag("W52")
    void deletionOfACollectionIncludesObjectsOfTheOtherServer() {
        first.node("n2");
        assertThat(ask("DELETE", "/api/v1/nodes", "").status()).isEqualTo(200);
        assertThat(first.get("/api/v1/nodes").names()).isEqualTo(List.of());
    }
}
