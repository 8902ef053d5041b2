package io.nodekeeper.apiserver.netty;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsParameters;
import io.nodekeeper.api.json.Json;
import io.nodekeeper.apiserver.netty.nodes.NodeIdentity;
import io.nodekeeper.client.TestCertificates;
import io.nodekeeper.client.config.Identity;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLParameters;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Logs on their way from a node, which the test plays, over real connections. */
@Timeout(120)
class NodeRelayTest {
    private static final String LOG = "/api/v1/namespaces/default/pods/web/log";
    /** A third of all, as each user gets. */
    private static final int OF_ONE_USER = 200;

    private final Identity nodes = Certificates.CLIENT.get();
    private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
    private final CountDownLatch end = new CountDownLatch(1);
    private final List<AutoCloseable> parts = new ArrayList<>();

    @AfterEach
    void stop() throws Exception {
        end.countDown();
        for (AutoCloseable part : parts.reversed()) {
            part.close();
        }
        threads.shutdownNow();
    }

    @ParameterizedTest
    @EnumSource(HttpClient.Version.class)
    void aLogArrivesAsItIsWritten(HttpClient.Version version) throws Exception {
        TransportServer server = server(version);
        CompletableFuture<Void> read = new CompletableFuture<>();
        node(server, exchange -> {
            exchange.sendResponseHeaders(200, 0);
            exchange.getResponseBody().write("first\n".getBytes(StandardCharsets.UTF_8));
            exchange.getResponseBody().flush();
            read.join();
            exchange.getResponseBody().write("second\n".getBytes(StandardCharsets.UTF_8));
            exchange.close();
        });

        HttpResponse<InputStream> response = server.client()
                .send(server.request(LOG + "?follow=true").build(), HttpResponse.BodyHandlers.ofInputStream());

        assertThat(response.statusCode()).isEqualTo(200);
        assertThat(text(response.body().readNBytes(6))).isEqualTo("first\n");
        read.complete(null);
        assertThat(text(response.body().readAllBytes())).isEqualTo("second\n");
        assertThat(server.get("/healthz").body()).isEqualTo("ok");
    }

    @ParameterizedTest
    @EnumSource(HttpClient.Version.class)
    void aLargeLogArrivesWhole(HttpClient.Version version) throws Exception {
        TransportServer server = server(version);
        byte[] part = "0123456789abcdef".repeat(4_096).getBytes(StandardCharsets.US_ASCII);
        node(server, exchange -> {
            exchange.sendResponseHeaders(200, 0);
            for (int i = 0; i < 500; i++) {
                exchange.getResponseBody().write(part);
            }
            exchange.close();
        });

        assertThat(server.get(LOG).body().length()).isEqualTo(500 * part.length);
    }

    @ParameterizedTest
    @CsvSource({
        "400, 400, BadRequest, container \"c\" in pod \"web\" is waiting to start: ContainerCreating",
        "404, 404, NotFound, container \"c\" in pod \"web\" is waiting to start: ContainerCreating",
        "500, 500, InternalError,"
                + " Internal error occurred: container \"c\" in pod \"web\" is waiting to start: ContainerCreating",
        "403, 500, InternalError,"
                + " Internal error occurred: the node refused this server: container \"c\" in pod \"web\" is waiting to"
                + " start: ContainerCreating"
    })
    void aNodesErrorIsAStatus(int given, int status, String reason, String message) throws Exception {
        TransportServer server = server(HttpClient.Version.HTTP_2);
        node(server, exchange -> {
            byte[] body = "container \"c\" in pod \"web\" is waiting to start: ContainerCreating\n"
                    .getBytes(StandardCharsets.UTF_8);
            exchange.sendResponseHeaders(given, body.length);
            exchange.getResponseBody().write(body);
            exchange.close();
        });

        HttpResponse<String> response = server.get(LOG);

        assertThat(response.statusCode()).isEqualTo(status);
        assertThat(Json.parseObject(response.body().getBytes(StandardCharsets.UTF_8)))
                .satisfies(body -> assertThat(body.text("reason")).isEqualTo(reason))
                .satisfies(body -> assertThat(body.text("message")).isEqualTo(message));
    }

    @ParameterizedTest
    @EnumSource(HttpClient.Version.class)
    void throughTheProxyRequestAndAnswerAreThoseOfClientAndNode(HttpClient.Version version) throws Exception {
        TransportServer server = server(version);
        node(server, exchange -> {
            String said = exchange.getRequestMethod() + " " + exchange.getRequestURI() + " "
                    + exchange.getRequestHeaders().getFirst("Content-Type") + " "
                    + exchange.getRequestHeaders().containsKey("Cookie") + " "
                    + text(exchange.getRequestBody().readAllBytes());
            byte[] body = said.getBytes(StandardCharsets.UTF_8);
            exchange.getResponseHeaders().set("Content-Type", "text/x-own");
            exchange.getResponseHeaders().set("Set-Cookie", "a=b");
            exchange.sendResponseHeaders(418, body.length);
            exchange.getResponseBody().write(body);
            exchange.close();
        });

        HttpResponse<String> response = server.client()
                .send(
                        server.request("/api/v1/nodes/n1/proxy/containerLogs/default/web/c?x=%2F")
                                .header("Content-Type", "text/y")
                                .header("Cookie", "secret")
                                .PUT(HttpRequest.BodyPublishers.ofString("body"))
                                .build(),
                        HttpResponse.BodyHandlers.ofString());

        assertThat(response.body()).isEqualTo("PUT /containerLogs/default/web/c?x=%2F text/y false body");
        assertThat(response.statusCode()).isEqualTo(418);
        assertThat(response.headers().firstValue("Content-Type")).contains("text/x-own");
        assertThat(response.headers().firstValue("Set-Cookie")).isEmpty();
        assertThat(server.get("/healthz").body()).isEqualTo("ok");
    }

    @Test
    void anAnswerWithoutABodyAndARedirectArePassedOnUnfollowed() throws Exception {
        TransportServer server = server(HttpClient.Version.HTTP_1_1);
        node(server, exchange -> {
            boolean moved = "moved".equals(exchange.getRequestURI().getQuery());
            exchange.getResponseHeaders().set("Location", "https://169.254.169.254/");
            exchange.sendResponseHeaders(moved ? 302 : 204, -1);
            exchange.close();
        });
        String uri = "/api/v1/nodes/n1/proxy/containerLogs/default/web/c";

        assertThat(server.get(uri).statusCode()).isEqualTo(204);
        HttpResponse<String> moved = server.get(uri + "?moved");
        assertThat(moved.statusCode()).isEqualTo(302);
        assertThat(moved.headers().firstValue("Location")).isEmpty();
    }

    @Test
    void theServerIsNoNodeOfItsOwn() throws Exception {
        TransportServer server = server(HttpClient.Version.HTTP_1_1);
        server.place("n1", server.https.port());

        HttpResponse<String> response = server.get("/api/v1/nodes/n1/proxy/api/v1/secrets");

        assertThat(response.statusCode()).isEqualTo(403);
        assertThat(response.body()).contains("takes this server for a node");
    }

    @Test
    void aNodeThatCannotBeReachedIsAnError() throws Exception {
        TransportServer server = server(HttpClient.Version.HTTP_2);
        server.place("n1", 1);

        HttpResponse<String> response = server.get(LOG);

        assertThat(response.statusCode()).isEqualTo(500);
        assertThat(response.body()).contains("error dialing backend: ");
    }

    @Test
    void aCertificateOfAnotherAuthorityIsRefusedIfNodesAreVerified() throws Exception {
        TransportServer server = server(HttpClient.Version.HTTP_2);
        node(server, exchange -> {
            exchange.sendResponseHeaders(200, -1);
            exchange.close();
        });
        server.https.renew(new NodeIdentity(nodes.key(), nodes.chain(), List.of(nodes.certificate())));

        assertThat(server.get(LOG).statusCode()).isEqualTo(500);
        assertThat(server.get(LOG + "?insecureSkipTLSVerifyBackend=true").statusCode())
                .isEqualTo(200);
    }

    @Test
    void oneUserCannotTakeAllConnectionsToNodes() throws Exception {
        TransportServer server = server(HttpClient.Version.HTTP_2);
        // It accepts connections and says nothing.
        ServerSocket silent = new ServerSocket(0, 2 * OF_ONE_USER, InetAddress.getLoopbackAddress());
        parts.add(silent);
        server.place("n1", silent.getLocalPort());
        for (int i = 0; i < OF_ONE_USER; i++) {
            server.client().sendAsync(server.request(LOG).build(), HttpResponse.BodyHandlers.discarding());
        }
        for (int i = 0; i < OF_ONE_USER; i++) {
            parts.add(silent.accept());
        }

        assertThat(server.get(LOG).statusCode()).isEqualTo(429);
        HttpRequest asBob = server.request(LOG)
                .header("Impersonate-User", "bob")
                .header("Impersonate-Group", "system:masters")
                .build();
        assertThat(server.client()
                        .send(asBob, HttpResponse.BodyHandlers.ofString())
                        .statusCode())
                .isEqualTo(429);
        // The other user's connection fails at once, without a deadline.
        server.place("n1", 1);
        try (HttpClient other = HttpClient.newBuilder()
                .sslContext(TestCertificates.anonymous(Certificates.SERVER.get()))
                .build()) {
            HttpRequest ofOther = server.request(LOG)
                    .header("Authorization", "Bearer other-admin")
                    .build();
            assertThat(other.send(ofOther, HttpResponse.BodyHandlers.ofString()).body())
                    .contains("error dialing backend");
        }
    }

    @Test
    void aServerThatStopsEndsItsStreams() throws Exception {
        TransportServer server = server(HttpClient.Version.HTTP_1_1);
        node(server, this::untilTheEnd);
        HttpResponse<InputStream> response = server.client()
                .send(server.request(LOG + "?follow=true").build(), HttpResponse.BodyHandlers.ofInputStream());
        assertThat(response.body().read()).isEqualTo('.');

        CompletableFuture.runAsync(server.https::close, threads).get(15, TimeUnit.SECONDS);

        assertThat(CompletableFuture.supplyAsync(() -> rest(response.body()), threads)
                        .get(15, TimeUnit.SECONDS))
                .isNotEqualTo("everything");
    }

    private static String rest(InputStream body) {
        try {
            return text(body.readAllBytes());
        } catch (IOException e) {
            return "broken off";
        }
    }

    private void untilTheEnd(HttpExchange exchange) throws IOException {
        exchange.sendResponseHeaders(200, 0);
        exchange.getResponseBody().write('.');
        exchange.getResponseBody().flush();
        try {
            end.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        exchange.close();
    }

    private TransportServer server(HttpClient.Version version) throws Exception {
        TransportServer server = new TransportServer(version);
        parts.add(server);
        server.https.renew(new NodeIdentity(nodes.key(), nodes.chain(), List.of()));
        server.node("n1", 0);
        server.post(
                "/api/v1/namespaces/default/pods",
                "{\"metadata\":{\"name\":\"web\"},\"spec\":{\"nodeName\":\"n1\",\"containers\":[{\"name\":\"c\",\"image\":\"i\"}]}}");
        return server;
    }

    private interface Handler {
        void handle(HttpExchange exchange) throws IOException;
    }

    /** A node's API that demands the server's certificate. */
    private void node(TransportServer server, Handler handler) throws Exception {
        com.sun.net.httpserver.HttpsServer node = com.sun.net.httpserver.HttpsServer.create(
                new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 500);
        node.setHttpsConfigurator(new HttpsConfigurator(TestCertificates.context(Certificates.SERVER.get(), nodes)) {
            @Override
            public void configure(HttpsParameters parameters) {
                SSLParameters tls = getSSLContext().getDefaultSSLParameters();
                tls.setNeedClientAuth(true);
                parameters.setSSLParameters(tls);
            }
        });
        node.createContext("/containerLogs/default/web/c", handler::handle);
        node.setExecutor(threads);
        node.start();
        parts.add(() -> {
            end.countDown();
            node.stop(0);
        });
        server.place("n1", node.getAddress().getPort());
    }

    private static String text(byte[] bytes) {
        return new String(bytes, StandardCharsets.UTF_8);
    }
}
