package io.nodekeeper.apiserver.actions;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.apiserver.testing.TestServer;
import io.nodekeeper.apiserver.testing.TestServer.Answer;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The subresource {@code pods/ephemeralcontainers}, which {@code kubectl debug} patches. */
class EphemeralContainersTest {
    private static final String POD = "/api/v1/namespaces/default/pods/p1";
    private static final String LIST = POD + "/ephemeralcontainers";
    private static final String STRATEGIC = "application/strategic-merge-patch+json";

    private final TestServer server = new TestServer();

    @BeforeEach
    void aPod() {
        server.post("/api/v1/namespaces/default/pods", Json.parseObject("""
                {"metadata": {"name": "p1"}, "spec": {"nodeName": "n1",
                 "volumes": [{"name": "v", "emptyDir": {}}],
                 "containers": [{"name": "main", "image": "app:1"}]}}
                """).toString());
    }

    private Answer patch(String container) {
        return server.patch(STRATEGIC, LIST, "{\"spec\":{\"ephemeralContainers\":[" + container + "]}}");
    }

    private JsonObject spec() {
        return server.get(POD).json().object("spec");
    }

    @Test
    void aPatchAddsAContainerWithItsDefaultsAndChangesNothingElse() {
        Answer answer = server.patch(STRATEGIC, LIST, """
                {"metadata": {"labels": {"a": "b"}}, "spec": {"hostname": "other", "ephemeralContainers":
                 [{"name": "debugger", "image": "busybox", "stdin": true, "tty": true, "targetContainerName": "main"}]}}
                """);

        assertThat(answer.status()).as(answer.text()).isEqualTo(200);
        JsonObject added =
                spec().array("ephemeralContainers").objects().findFirst().orElseThrow();
        assertThat(added.text("targetContainerName")).isEqualTo("main");
        assertThat(added.text("imagePullPolicy")).isEqualTo("Always");
        assertThat(added.text("terminationMessagePath")).isEqualTo("/dev/termination-log");
        assertThat(spec().has("hostname")).isFalse();
        assertThat(server.get(POD).json().object("metadata").has("labels")).isFalse();
        assertThat(server.get(LIST).json().object("spec")).isEqualTo(spec());
    }

    @Test
    void itsNodeReadsWhatTheyUse() {
        String secret = "/api/v1/namespaces/default/secrets/s";
        String map = "/api/v1/namespaces/default/configmaps/m";
        server.post("/api/v1/namespaces/default/secrets", "{\"metadata\":{\"name\":\"s\"}}");
        server.post("/api/v1/namespaces/default/configmaps", "{\"metadata\":{\"name\":\"m\"}}");
        server.node("n1");
        assertThat(server.status(TestServer.N1, secret)).isEqualTo(403);

        patch("{\"name\":\"d1\",\"image\":\"busybox\",\"envFrom\":[{\"secretRef\":{\"name\":\"s\"}}]}");
        patch("{\"name\":\"d2\",\"image\":\"busybox\",\"envFrom\":[{\"configMapRef\":{\"name\":\"m\"}}]}");

        assertThat(server.status(TestServer.N1, secret)).isEqualTo(200);
        assertThat(server.status(TestServer.N1, map)).isEqualTo(200);
        // until the pod is gone
        server.delete(POD, "{\"gracePeriodSeconds\":0}");
        assertThat(server.status(TestServer.N1, secret)).isEqualTo(403);
    }

    @Test
    void furtherOnesAreAddedAndNoneIsChangedOrRemoved() {
        patch("{\"name\":\"d1\",\"image\":\"busybox\"}");

        assertThat(patch("{\"name\":\"d2\",\"image\":\"busybox\"}").status()).isEqualTo(200);
        assertThat(patch("{\"name\":\"d1\",\"image\":\"other\"}").message())
                .isEqualTo("Pod \"p1\" is invalid: spec.ephemeralContainers: Forbidden: existing ephemeral containers"
                        + " \"d1\" may not be changed");
        JsonObject without = server.get(POD).json().update("spec", spec -> spec.without("ephemeralContainers"));
        assertThat(server.put(LIST, without.toString()).message())
                .contains("existing ephemeral containers \"d1\" may not be removed")
                .contains("existing ephemeral containers \"d2\" may not be removed");
        assertThat(spec().array("ephemeralContainers").items()).hasSize(2);
    }

    @Test
    void aPodItselfIsNotTheWayToAddThem() {
        Answer answer = server.patch(
                STRATEGIC, POD, "{\"spec\":{\"ephemeralContainers\":[{\"name\":\"d1\",\"image\":\"busybox\"}]}}");

        assertThat(answer.status()).isEqualTo(422);
        assertThat(answer.message()).contains("pod updates may not change fields other than");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "'name':'main' | .name: Duplicate value: \"main\"",
                "'targetContainerName':'none' | .targetContainerName: Not found: \"none\"",
                "'ports':[{'containerPort':80}] | .ports: Forbidden: cannot be set for an Ephemeral Container",
                "'resources':{'limits':{'cpu':'1'}} | .resources: Forbidden: cannot be set for an Ephemeral Container",
                "'livenessProbe':{'exec':{'command':['c']}} | .livenessProbe: Forbidden: cannot be set for an Ephemeral"
                        + " Container",
                "'volumeMounts':[{'name':'v','mountPath':'/v','subPath':'a'}] | .volumeMounts[0].subPath: Forbidden: cannot"
                        + " be set for an Ephemeral Container"
            })
    void whatItCannotHaveIsRefusedByItsName(String field, String fault) {
        String container = "'image':'busybox'," + (field.startsWith("'name'") ? "" : "'name':'d1',") + field;

        Answer answer = patch("{" + container.replace('\'', '"') + "}");

        assertThat(answer.status()).isEqualTo(422);
        assertThat(answer.message()).contains("spec.ephemeralContainers[0]" + fault);
    }

    @Test
    void theCopyOfAStaticPodHasNone() {
        server.post("/api/v1/namespaces/default/pods", Json.parseObject("""
                {"metadata": {"name": "static-n1", "annotations": {"kubernetes.io/config.mirror": "h"}},
                 "spec": {"nodeName": "n1", "containers": [{"name": "main", "image": "app:1"}]}}
                """).toString());

        Answer answer = server.patch(
                STRATEGIC,
                "/api/v1/namespaces/default/pods/static-n1/ephemeralcontainers",
                "{\"spec\":{\"ephemeralContainers\":[{\"name\":\"d1\",\"image\":\"busybox\"}]}}");

        assertThat(answer.status()).isEqualTo(422);
        assertThat(answer.message()).contains("static pods do not support ephemeral containers");
    }
}
