package io.nodekeeper.apiserver.controllers;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.apiserver.testing.TestServer;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The objects that the server creates in each namespace: the service account default and the root certificates. */
class NamespaceDefaultsTest {
    private static final String PEM = "-----BEGIN CERTIFICATE-----\nMII\n-----END CERTIFICATE-----\n";
    private static final String ACCOUNT = "/serviceaccounts/default";
    private static final String ROOT_CA = "/configmaps/kube-root-ca.crt";

    private final TestServer server = new TestServer();

    private void start(String pem) {
        server.server.start(Duration.ofHours(1), pem);
        server.settle();
    }

    private String in(String namespace, String object) {
        return "/api/v1/namespaces/" + namespace + object;
    }

    @Test
    void namespacesGetTheDefaultsAtTheStartAndAtCreation() {
        // given a namespace that exists before the server starts
        server.post("/api/v1/namespaces", "{\"metadata\":{\"name\":\"old\"}}");
        assertThat(server.get(in("old", ACCOUNT)).status()).isEqualTo(404);
        start(PEM);
        // when another namespace is created
        server.post("/api/v1/namespaces", "{\"metadata\":{\"name\":\"new\"}}");
        // then all namespaces have both objects
        for (String namespace :
                new String[] {"default", "kube-system", "kube-public", "kube-node-lease", "old", "new"}) {
            assertThat(server.get(in(namespace, ACCOUNT)).status())
                    .as(namespace)
                    .isEqualTo(200);
            var map = server.get(in(namespace, ROOT_CA)).json();
            assertThat(map.object("data").text("ca.crt")).as(namespace).isEqualTo(PEM);
            assertThat(map.object("metadata").object("annotations").text("kubernetes.io/description"))
                    .startsWith("Contains a CA bundle that can be used to verify the kube-apiserver");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {ACCOUNT, ROOT_CA})
    void deletedDefaultsAreCreatedAgain(String object) {
        start(PEM);
        String first = uid(object);

        for (int i = 0; i < 3; i++) {
            server.delete(in("default", object), "");
        }

        assertThat(uid(object)).isNotEmpty().isNotEqualTo(first);
    }

    private String uid(String object) {
        return server.get(in("default", object)).json().object("metadata").text("uid");
    }

    @Test
    void terminatingNamespaceGetsNoDefaults() {
        start(PEM);
        server.post("/api/v1/namespaces", "{\"metadata\":{\"name\":\"a\"}}");

        server.delete("/api/v1/namespaces/a", "");
        server.time.advance(Duration.ofSeconds(10));

        assertThat(server.get("/api/v1/namespaces/a").status()).isEqualTo(404);
        assertThat(server.get("/api/v1/namespaces/a/serviceaccounts").names()).isEmpty();
    }

    @Test
    void otherCertificatesAreReplacedOnlyAtAStart() {
        // given a ConfigMap with the certificates of an older authority, and a user's label
        server.post(
                in("default", "/configmaps"),
                "{\"metadata\":{\"name\":\"kube-root-ca.crt\",\"labels\":{\"a\":\"b\"}},\"data\":{\"ca.crt\":\"old\"}}");
        // when the server starts
        start(PEM);
        // then it has the server's certificates
        assertThat(server.get(in("default", ROOT_CA)).text())
                .contains("BEGIN CERTIFICATE")
                .contains("{\"a\":\"b\"}");
        // and later writes of another controller stay, so that two writers do not overwrite each other forever
        server.patch(TestServer.MERGE, in("default", ROOT_CA), "{\"data\":{\"ca.crt\":\"theirs\"}}");
        server.time.advance(Duration.ofMinutes(10));
        assertThat(server.get(in("default", ROOT_CA)).json().object("data").text("ca.crt"))
                .isEqualTo("theirs");
    }

    @Test
    void noConfigMapIsCreatedWithoutCertificates() {
        start("");

        assertThat(server.get(in("default", ACCOUNT)).status()).isEqualTo(200);
        assertThat(server.get(in("default", ROOT_CA)).status()).isEqualTo(404);
    }
}
