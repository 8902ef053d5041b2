package io.nodekeeper.apiserver.netty;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.apiserver.ApiServer;
import io.nodekeeper.apiserver.audit.AuditLog;
import io.nodekeeper.apiserver.authentication.Authenticator;
import io.nodekeeper.apiserver.netty.nodes.NodeIdentity;
import io.nodekeeper.apiserver.request.ClientCertificate;
import io.nodekeeper.apiserver.testing.ChangedStore;
import io.nodekeeper.apiserver.testing.TestServer;
import io.nodekeeper.client.TestCertificates;
import io.nodekeeper.client.config.Identity;
import io.nodekeeper.time.ThreadLoop;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.http.HttpClient;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What the audit log and the metrics say about requests that a node answers. The test plays the client and the node. */
@Timeout(60)
class RelayOutcomesTest {
    private static final String POD = "/api/v1/namespaces/default/pods/web";
    private static final String LOG = POD + "/log";
    private static final String EXEC = POD + "/exec?command=ls";
    private static final String UPGRADE = "Connection: Upgrade\r\nUpgrade: SPDY/3.1\r\n";

    private final BlockingQueue<JsonObject> lines = new LinkedBlockingQueue<>();
    private final AuditLog audit = new AuditLog(new ThreadLoop("audit"), new AuditLog.Out() {
        @Override
        public void write(List<byte[]> written) {
            written.stream()
                    .map(Json::parseObject)
                    .filter(line -> List.of("log", "exec", "proxy")
                            .contains(line.object("objectRef").text("subresource")))
                    .forEach(lines::add);
        }

        @Override
        public void close() {}
    });
    private TransportServer server;
    private ServerSocket node;

    @BeforeEach
    void aPodOnANode() throws Exception {
        Identity own = Certificates.CLIENT.get();
        server = new TransportServer(HttpClient.Version.HTTP_1_1, audit);
        server.https.renew(new NodeIdentity(own.key(), own.chain(), List.of()));
        node = TestCertificates.context(Certificates.SERVER.get(), own)
                .getServerSocketFactory()
                .createServerSocket(0, 50, InetAddress.getLoopbackAddress());
        server.node("n1", 0);
        server.place("n1", node.getLocalPort());
        server.post("/api/v1/namespaces/default/pods", TestServer.pod("web", "n1"));
    }

    @AfterEach
    void stop() throws Exception {
        node.close();
        server.close();
        audit.close().join();
    }

    @ParameterizedTest
    @CsvSource({
        LOG + ", 200 OK, 200, pods/log",
        LOG + ", 404 Not Found, 404, pods/log",
        LOG + ", 403 Forbidden, 500, pods/log",
        EXEC + ", 101 Switching Protocols, 101, pods/exec",
        EXEC + ", 404 Not Found, 404, pods/exec",
        "/api/v1/nodes/n1/proxy/pods, 410 Gone, 410, nodes/proxy"
    })
    void statusIsTheOneThatTheClientGets(String uri, String answer, int status, String resource) throws Exception {
        String upgrade = uri.equals(EXEC) ? UPGRADE : "";
        try (Socket client = client(uri, upgrade);
                Socket asked = node.accept()) {
            head(asked);
            send(
                    asked,
                    "HTTP/1.1 " + answer + "\r\n" + (status == 101 ? upgrade + "\r\n" : "Content-Length: 2\r\n\r\nno"));

            assertThat(head(client)).startsWith("HTTP/1.1 " + status + " ");
        }

        assertThat(logged()).containsExactly("ResponseStarted " + status, "ResponseComplete " + status);
        assertCounted(server.core, status, resource);
    }

    @Test
    void streamWithoutAnUpgradeIsABadRequest() throws Exception {
        try (Socket client = client(EXEC, "")) {
            assertThat(head(client)).startsWith("HTTP/1.1 400 ");
        }

        assertThat(logged()).containsExactly("ResponseStarted 400", "ResponseComplete 400");
        assertCounted(server.core, 400, "pods/exec");
    }

    @Test
    void nodeThatCannotBeReachedIsAnError() throws Exception {
        server.place("n1", 1);
        try (Socket client = client(EXEC, UPGRADE)) {
            assertThat(head(client)).startsWith("HTTP/1.1 500 ");
        }

        assertThat(lines.take().object("responseStatus").text("message"))
                .startsWith("Internal error occurred: error dialing backend: ");
        assertThat(next()).isEqualTo("ResponseComplete 500");
        assertCounted(server.core, 500, "pods/exec");
    }

    @Test
    void clientThatLeavesBeforeTheNodeAnswersHasNoSuccess() throws Exception {
        Socket client = client(EXEC, UPGRADE);
        try (Socket asked = node.accept()) {
            head(asked);

            client.close();

            assertThat(lines.take().object("responseStatus").text("message"))
                    .isEqualTo("Internal error occurred: the client disconnected before the node answered");
            assertThat(next()).isEqualTo("ResponseComplete 500");
            assertCounted(server.core, 500, "pods/exec");
        }
    }

    @Test
    void answerThatBreaksOffHasTheStatusOfItsBeginning() throws Exception {
        try (Socket client = client(LOG + "?follow=true", "")) {
            Socket asked = node.accept();
            head(asked);
            send(asked, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\none\r\n");
            assertThat(head(client)).startsWith("HTTP/1.1 200 OK\r\n");
            assertThat(next()).isEqualTo("ResponseStarted 200");

            asked.close();

            assertThat(next()).isEqualTo("ResponseComplete 200");
        }
        assertCounted(server.core, 200, "pods/log");
    }

    @Test
    void clientThatLeavesBeforeTheNodeIsKnownIsCounted() {
        // given a pod on a node, and a disk that answers late
        TestServer pods = new TestServer();
        pods.node("n1");
        pods.post("/api/v1/namespaces/default/pods", TestServer.pod("web", "n1"));
        pods.patch(
                TestServer.MERGE,
                "/api/v1/nodes/n1/status",
                "{\"status\":{\"addresses\":[{\"type\":\"InternalIP\",\"address\":\"10.0.0.7\"}]}}");
        CompletableFuture<String> disk = new CompletableFuture<>();
        ApiServer late = pods.another(
                ChangedStore.of(
                        pods.store, Map.of("read", key -> disk.thenCompose(ready -> pods.store.read((String) key[0])))),
                new Authenticator(Map.of()),
                Runnable::run);
        EmbeddedConnection connection = new EmbeddedConnection(
                pods,
                ServerContexts.of(late, pods.loop, 1 << 20, Runnable::run),
                Optional.of(ClientCertificate.of(TestServer.ADMIN)));

        // when the client disconnects before that
        connection.send("GET " + LOG + " HTTP/1.1\r\nHost: a\r\n\r\n");
        connection.channel.close();
        disk.complete("ready");

        // then its request is over
        assertCounted(late, 500, "pods/log");
    }

    /** Sends a request on a new connection. */
    private Socket client(String uri, String headers) throws Exception {
        Socket client = server.admin.getSocketFactory().createSocket("127.0.0.1", server.https.port());
        send(client, "GET " + uri + " HTTP/1.1\r\nHost: a\r\n" + headers + "\r\n");
        return client;
    }

    private static void send(Socket socket, String text) throws IOException {
        socket.getOutputStream().write(text.getBytes(StandardCharsets.US_ASCII));
    }

    /** Reads to the empty line that ends the headers. */
    private static String head(Socket socket) throws IOException {
        InputStream in = socket.getInputStream();
        StringBuilder head = new StringBuilder();
        for (int next = in.read(); next >= 0; next = in.read()) {
            head.append((char) next);
            if (head.indexOf("\r\n\r\n") >= 0) {
                break;
            }
        }
        return head.toString();
    }

    /** The stages and statuses of the next two lines of the audit log. */
    private List<String> logged() throws InterruptedException {
        return List.of(next(), next());
    }

    private String next() throws InterruptedException {
        JsonObject line = lines.take();
        return line.text("stage") + " "
                + line.object("responseStatus").number("code").orElseThrow();
    }

    /** The request is counted with {@code status}, and only once. */
    private static void assertCounted(ApiServer server, int status, String what) {
        String resource = what.split("/")[0];
        String subresource = what.split("/")[1];
        String metrics = new String(server.metrics().expose(), StandardCharsets.UTF_8);
        assertThat(metrics.lines()
                        .filter(line -> line.startsWith("apiserver_request_total{"))
                        .filter(line ->
                                line.contains("resource=\"" + resource + "\"") && line.contains("verb=\"GET\"")))
                .containsExactly("apiserver_request_total{code=\"" + status
                        + "\",component=\"apiserver\",dry_run=\"\",group=\"\",resource=\"" + resource
                        + "\",scope=\"resource\",subresource=\"" + subresource + "\",verb=\"GET\",version=\"v1\"} 1.0");
        assertThat(metrics.lines()).contains("apiserver_current_inflight_requests{request_kind=\"readOnly\"} 0.0");
    }
}
