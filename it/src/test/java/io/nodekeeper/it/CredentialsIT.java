package io.nodekeeper.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.InputStream;
import java.io.OutputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.security.cert.CertificateFactory;
import java.time.Duration;
import java.util.Map;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.TrustManagerFactory;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;

/** Authorization, and the answers to malformed requests, over real TLS. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class CredentialsIT {
    private static final String TOKEN = "test-token";

    @TempDir
    static Path directory;

    private Path data;
    private Running server;
    private String address;
    private SSLContext context;
    private HttpClient http;

    @BeforeAll
    void start() throws Exception {
        data = directory.resolve("data");
        Path tokens = Files.writeString(directory.resolve("tokens.csv"), TOKEN + ",root,1,\"system:masters\"\n");
        server = Running.start(
                directory,
                "apiserver",
                "apiserver",
                "--data-dir",
                data.toString(),
                "--secure-port",
                "0",
                "--token-auth-file",
                tokens.toString());
        address = server.awaitAddress();
        try (InputStream authority = Files.newInputStream(data.resolve("pki/ca.crt"))) {
            KeyStore trusted = KeyStore.getInstance("PKCS12");
            trusted.load(null, null);
            trusted.setCertificateEntry(
                    "ca", CertificateFactory.getInstance("X.509").generateCertificate(authority));
            TrustManagerFactory trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
            trust.init(trusted);
            context = SSLContext.getInstance("TLS");
            context.init(null, trust.getTrustManagers(), null);
            http = HttpClient.newBuilder()
                    .version(HttpClient.Version.HTTP_1_1)
                    .sslContext(context)
                    .build();
        }
    }

    @AfterAll
    void stop() throws Exception {
        http.close();
        assertThat(server.terminate()).isEqualTo(143);
        assertThat(server.log()).doesNotContain("Exception");
    }

    @Test
    @Tag("W79")
    void anAgentsCredentialWritesItsOwnNodeOnly() throws Exception {
        for (String node : new String[] {"n1", "n2"}) {
            assertThat(send("POST", "/api/v1/nodes", TOKEN, "{\"metadata\":{\"name\":\"" + node + "\"}}")
                            .statusCode())
                    .isEqualTo(201);
        }
        try (Running certs = Running.start(
                directory, "certs", "certs", "--data-dir", data.toString(), "--node", "n1", "--server", address)) {
            Path kubeconfig = data.resolve("agent-n1.kubeconfig");
            Eventually.within(Duration.ofSeconds(20), () -> Files.exists(kubeconfig));
            Kubectl kubectl = new Kubectl(directory, kubeconfig);

            assertThat(kubectl.run("label", "node", "n1", "own=1").code()).isZero();
            assertThat(kubectl.run("label", "node", "n2", "other=1").err())
                    .contains("node 'n1' cannot read 'n2', only its own Node object");
            assertThat(kubectl.run("taint", "node", "n1", "k=v:NoSchedule").err())
                    .contains("is not allowed to modify taints");
            assertThat(kubectl.run("delete", "node", "n1").err())
                    .contains("nodes \"n1\" is forbidden: User \"system:node:n1\" cannot delete resource \"nodes\" in"
                            + " API group \"\" at the cluster scope");
            assertThat(kubectl.run("get", "leases", "-n", "kube-node-lease").err())
                    .contains("can only get, create, update, patch, or delete a node lease");
        }
    }

    /** Each handshake costs some hundred times as much as a request, and the limit of new connections does not see it. */
    @Test
    void aClientCannotRepeatTheHandshakeOfAConnection() throws Exception {
        URI server = URI.create(address);
        try (SSLSocket socket =
                (SSLSocket) context.getSocketFactory().createSocket(server.getHost(), server.getPort())) {
            socket.setEnabledProtocols(new String[] {"TLSv1.2"});
            socket.setSoTimeout(10_000);
            OutputStream out = socket.getOutputStream();
            InputStream in = socket.getInputStream();
            byte[] request = "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n".getBytes(StandardCharsets.US_ASCII);
            out.write(request);
            assertThat(in.read()).isEqualTo('H');

            socket.startHandshake();

            assertThatThrownBy(() -> {
                        out.write(request);
                        in.readAllBytes();
                    })
                    .isInstanceOf(SSLException.class)
                    .hasMessageContaining("handshake");
        }
    }

    @Test
    @Tag("W11")
    void aWrongTokenIsRefusedEverywhereAndNobodyMayAskForHealth() throws Exception {
        assertThat(send("GET", "/version", "wrong", "").statusCode()).isEqualTo(401);
        assertThat(send("GET", "/api/v1/nodes", "wrong", "").statusCode()).isEqualTo(401);
        assertThat(send("GET", "/healthz", "", "").body()).isEqualTo("ok");
        assertThat(send("GET", "/api/v1/nodes", "", "").body())
                .contains("nodes is forbidden: User \\\"system:anonymous\\\" cannot list resource");
    }

    @Test
    @Tag("W29")
    void badInputIsRefusedAsKubernetesDoesAndNothingIsStored() throws Exception {
        long before = nodes();
        Map<String, Integer> bad = Map.of(
                "{\"metadata\":{\"name\":\"x\"",
                400,
                "[]",
                400,
                "{\"metadata\":{\"name\":7}}",
                400,
                "{\"kind\":\"Pod\",\"metadata\":{\"name\":\"x\"}}",
                400,
                "{\"metadata\":{\"name\":\"Bad_Name\"}}",
                422,
                "{\"metadata\":{}}",
                422,
                "{\"metadata\":{\"name\":\"x\"},\"spec\":{\"taints\":[{\"key\":\"k\",\"effect\":\"Never\"}]}}",
                422,
                "{\"metadata\":{\"name\":\"x\"},\"status\":{\"conditions\":{}}}",
                400,
                "{\"metadata\":{\"name\":\"x\",\"annotations\":{\"a\":\"" + "x".repeat(270_000) + "\"}}}",
                422);
        for (Map.Entry<String, Integer> body : bad.entrySet()) {
            HttpResponse<String> answer = send("POST", "/api/v1/nodes", TOKEN, body.getKey());
            assertThat(answer.statusCode()).as(answer.body()).isEqualTo(body.getValue());
            assertThat(answer.body()).contains("\"kind\":\"Status\"").contains("\"status\":\"Failure\"");
        }
        assertThat(send("POST", "/api/v1/nodes", TOKEN, "x".repeat(4 << 20)).statusCode())
                .isEqualTo(413);
        assertThat(send("GET", "/api/v1/foos", TOKEN, "").statusCode()).isEqualTo(404);
        assertThat(send("GET", "/nothing/here", TOKEN, "").statusCode()).isEqualTo(404);
        assertThat(send("POST", "/api/v1/nodes/n9", TOKEN, "{}").statusCode()).isEqualTo(405);
        assertThat(send("GET", "/api/v1/nodes?limit=many", TOKEN, "").statusCode())
                .isEqualTo(400);
        assertThat(nodes()).isEqualTo(before);
    }

    private long nodes() throws Exception {
        return send("GET", "/api/v1/nodes", TOKEN, "").body().split("\"uid\"", -1).length;
    }

    private HttpResponse<String> send(String method, String target, String token, String body) throws Exception {
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(address + target))
                .timeout(Duration.ofSeconds(20))
                .method(
                        method,
                        body.isEmpty()
                                ? HttpRequest.BodyPublishers.noBody()
                                : HttpRequest.BodyPublishers.ofString(body));
        if (!token.isEmpty()) {
            request.header("Authorization", "Bearer " + token);
        }
        return http.send(request.build(), HttpResponse.BodyHandlers.ofString());
    }
}
