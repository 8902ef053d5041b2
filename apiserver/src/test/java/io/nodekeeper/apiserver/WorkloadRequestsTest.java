package io.nodekeeper.apiserver;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.apiserver.admission.DefaultTolerations;
import io.nodekeeper.apiserver.testing.TestServer;
import io.nodekeeper.apiserver.testing.TestServer.Answer;
import io.nodekeeper.store.Journal;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The controller's requests for pods and leases, and the default tolerations of pods. */
class WorkloadRequestsTest {
    private static final String PODS = "/api/v1/namespaces/default/pods";
    private static final String LEASES = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases";
    private static final String DEFAULTS =
            "[{\"key\":\"node.kubernetes.io/not-ready\",\"operator\":\"Exists\",\"effect\":\"NoExecute\",\"tolerationSeconds\":300},"
                    + "{\"key\":\"node.kubernetes.io/unreachable\",\"operator\":\"Exists\",\"effect\":\"NoExecute\",\"tolerationSeconds\":300}]";

    private final TestServer server = new TestServer();

    @Test
    @Tag("L74")
    void podWithoutTolerationsGetsBothDefaults() {
        JsonObject pod = server.post(PODS, TestServer.pod("p1", "n1")).json();
        assertThat(pod.object("spec").array("tolerations")).hasToString(DEFAULTS);
    }

    @Test
    @Tag("L74")
    void podThatToleratesEverythingGetsNoDefaults() {
        JsonObject pod =
                server.post(PODS, tolerating("{\"operator\":\"Exists\"}")).json();
        assertThat(pod.object("spec").array("tolerations")).hasToString("[{\"operator\":\"Exists\"}]");
    }

    @Test
    @Tag("L74")
    void podKeepsItsTolerationAndGetsOnlyTheMissingOne() {
        String own = "{\"key\":\"node.kubernetes.io/not-ready\",\"operator\":\"Exists\",\"effect\":\"NoExecute\"}";
        JsonObject pod = server.post(PODS, tolerating(own)).json();
        assertThat(pod.object("spec").array("tolerations"))
                .hasToString(
                        "[" + own
                                + ",{\"key\":\"node.kubernetes.io/unreachable\",\"operator\":\"Exists\",\"effect\":\"NoExecute\",\"tolerationSeconds\":300}]");
    }

    @Test
    @Tag("L74")
    void updatesKeepTheDefaultTolerations() {
        JsonObject created = server.post(PODS, TestServer.pod("p1", "n1")).json();
        JsonObject patched = server.patch(TestServer.MERGE, PODS + "/p1", "{\"spec\":{\"tolerations\":null}}")
                .json();
        assertThat(patched.object("spec").array("tolerations")).hasToString(DEFAULTS);
        JsonObject without =
                created.update("spec", spec -> spec.without("tolerations").without("terminationGracePeriodSeconds"));
        JsonObject replaced = server.put(PODS + "/p1", without.toString()).json();
        assertThat(replaced.object("spec").array("tolerations")).hasToString(DEFAULTS);
        Answer status = server.patch(TestServer.MERGE, PODS + "/p1/status", "{\"status\":{\"phase\":\"Running\"}}");
        assertThat(status.json().object("spec").array("tolerations")).hasToString(DEFAULTS);
    }

    @Test
    @Tag("L74")
    void defaultSecondsComeFromTheServersFlags() {
        TestServer hasty = new TestServer(Journal.NONE, new DefaultTolerations(7, 0));
        JsonObject pod = hasty.post(PODS, TestServer.pod("p1", "n1")).json();
        assertThat(pod.object("spec")
                        .array("tolerations")
                        .objects()
                        .map(t -> t.number("tolerationSeconds").orElseThrow()))
                .containsExactly(7L, 0L);
    }

    @Test
    @Tag("L61")
    void controllerMarksAPodAndDeletesItByUid() {
        // given a pod with a Ready condition from its kubelet
        String uid = server.post(PODS, TestServer.pod("p1", "n1"))
                .json()
                .object("metadata")
                .text("uid");
        server.patch(
                TestServer.STRATEGIC,
                PODS + "/p1/status",
                "{\"status\":{\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\",\"reason\":\"Fine\"}]}}");
        // when the controller sets its condition
        JsonObject marked = controller(
                        "PATCH",
                        PODS + "/p1/status",
                        "{\"metadata\":{\"uid\":\"" + uid
                                + "\"},\"status\":{\"conditions\":[{\"type\":\"Ready\",\"status\":\"False\","
                                + "\"lastTransitionTime\":\"2026-11-21T07:00:00Z\"},{\"type\":\"DisruptionTarget\",\"status\":\"True\"}]}}")
                .json();
        // then the other fields of the kubelet stay
        assertThat(marked.object("status").array("conditions"))
                .hasToString(
                        "[{\"type\":\"Ready\",\"status\":\"False\",\"reason\":\"Fine\",\"lastTransitionTime\":\"2026-11-21T07:00:00Z\"},"
                                + "{\"type\":\"DisruptionTarget\",\"status\":\"True\"}]");
        // and neither the patch nor the deletion affects another pod of the same name
        assertThat(controller("PATCH", PODS + "/p1/status", "{\"metadata\":{\"uid\":\"other\"}}")
                        .status())
                .isEqualTo(422);
        assertThat(controller("DELETE", PODS + "/p1", "{\"preconditions\":{\"uid\":\"other\"}}")
                        .status())
                .isEqualTo(409);
        JsonObject ending = controller("DELETE", PODS + "/p1", "{\"preconditions\":{\"uid\":\"" + uid + "\"}}")
                .json();
        assertThat(ending.object("metadata").text("deletionTimestamp")).isEqualTo("2026-11-21T07:00:30Z");
        assertThat(controller(
                                "DELETE",
                                PODS + "/p1",
                                "{\"gracePeriodSeconds\":0,\"preconditions\":{\"uid\":\"" + uid + "\"}}")
                        .status())
                .isEqualTo(200);
        assertThat(server.get(PODS + "/p1").status()).isEqualTo(404);
    }

    @Test
    @Tag("W18")
    void controllerDeletesALeaseOnlyAtTheVersionItRead() {
        JsonObject created = server.post(
                        LEASES, "{\"metadata\":{\"name\":\"n1\"},\"spec\":{\"holderIdentity\":\"n1\"}}")
                .json();
        JsonObject metadata = created.object("metadata");
        server.patch(TestServer.MERGE, LEASES + "/n1", "{\"spec\":{\"renewTime\":\"2026-11-21T07:00:00.000000Z\"}}");
        assertThat(controller("DELETE", LEASES + "/n1", preconditions(metadata)).status())
                .isEqualTo(409);
        JsonObject now = server.get(LEASES + "/n1").json().object("metadata");
        assertThat(controller("DELETE", LEASES + "/n1", preconditions(now)).status())
                .isEqualTo(200);
        assertThat(server.get(LEASES + "/n1").status()).isEqualTo(404);
    }

    private static String preconditions(JsonObject metadata) {
        return "{\"preconditions\":{\"uid\":\"" + metadata.text("uid") + "\",\"resourceVersion\":\""
                + metadata.text("resourceVersion") + "\"}}";
    }

    private static String tolerating(String toleration) {
        return "{\"metadata\":{\"name\":\"p1\"},\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":\"i\"}],\"tolerations\":["
                + toleration + "]}}";
    }

    private Answer controller(String method, String uri, String body) {
        return server.ask(
                TestServer.CONTROLLER,
                method,
                uri,
                method.equals("PATCH") ? Map.of("content-type", TestServer.STRATEGIC) : Map.of(),
                body);
    }
}
