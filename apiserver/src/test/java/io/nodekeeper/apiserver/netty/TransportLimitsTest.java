package io.nodekeeper.apiserver.netty;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.nodekeeper.apiserver.flowcontrol.FlowControlOptions;
import io.nodekeeper.client.TestCertificates;
import io.nodekeeper.time.ThreadPool;
import java.io.BufferedReader;
import java.io.ByteArrayInputStream;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.zip.GZIPInputStream;
import javax.net.ssl.SSLSocket;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Limits of the resources that one client or all clients use, over real connections. */
@Timeout(60)
class TransportLimitsTest {
    /** Each test starts a server with its own limits. */
    @SuppressWarnings("NullAway.Init")
    private TransportServer server;

    private TransportServer start(HttpClient.Version version, FlowControlOptions limits, long memory) throws Exception {
        server = new TransportServer(limits, version, Duration.ofSeconds(20), memory);
        return server;
    }

    @AfterEach
    void stop() throws Exception {
        server.close();
    }

    private HttpResponse<byte[]> zipped(String uri) throws Exception {
        return server.client()
                .send(
                        server.request(uri).header("Accept-Encoding", "gzip").build(),
                        HttpResponse.BodyHandlers.ofByteArray());
    }

    @ParameterizedTest
    @EnumSource(names = {"HTTP_1_1", "HTTP_2"})
    @Tag("W13")
    void onlyLargeListsAreCompressedOnRequest(HttpClient.Version version) throws Exception {
        start(version, FlowControlOptions.DEFAULT, 64 << 20);
        server.node("n1", 0);
        assertThat(zipped("/api/v1/nodes").headers().firstValue("content-encoding"))
                .isEmpty();
        server.node("n2", 140_000);
        String plain = server.get("/api/v1/nodes").body();
        HttpResponse<byte[]> zipped = zipped("/api/v1/nodes");
        assertThat(zipped.headers().firstValue("content-encoding")).contains("gzip");
        assertThat(zipped.headers().firstValue("vary")).contains("Accept-Encoding");
        assertThat(zipped.body().length).isLessThan(10_000);
        try (GZIPInputStream in = new GZIPInputStream(new ByteArrayInputStream(zipped.body()))) {
            assertThat(new String(in.readAllBytes(), StandardCharsets.UTF_8))
                    .hasSize(plain.length())
                    .contains("\"name\":\"n2\"");
        }
        assertThat(server.get("/api/v1/nodes").headers().firstValue("content-encoding"))
                .isEmpty();
    }

    @Test
    void responsesHaveDateAuditIdAndNoCache() throws Exception {
        start(HttpClient.Version.HTTP_1_1, FlowControlOptions.DEFAULT, 64 << 20);
        HttpResponse<String> answer = server.client()
                .send(
                        server.request("/api/v1/nodes")
                                .header("Audit-Id", "my-id")
                                .build(),
                        HttpResponse.BodyHandlers.ofString());
        assertThat(answer.headers().firstValue("audit-id")).contains("my-id");
        assertThat(answer.headers().firstValue("cache-control")).contains("no-cache, private");
        assertThat(answer.headers().firstValue("date").orElseThrow())
                .matches("[A-Z][a-z]{2}, \\d\\d [A-Z][a-z]{2} \\d{4} \\d\\d:\\d\\d:\\d\\d GMT");
        assertThat(server.get("/nothing").headers().firstValue("date")).isPresent();
    }

    @Test
    @Tag("W86")
    void concurrentReadsAboveTheLimitAreRefused() throws Exception {
        start(HttpClient.Version.HTTP_2, new FlowControlOptions(10, 5, 5, 1, Duration.ofSeconds(60)), 64 << 20);
        HttpRequest slow = server.request("/api/v1/nodes/n1?resourceVersion=999999")
                .header("Authorization", "Bearer controller")
                .build();
        try (HttpClient client = HttpClient.newBuilder()
                .sslContext(TestCertificates.anonymous(Certificates.SERVER.get()))
                .build()) {
            List<CompletableFuture<HttpResponse<String>>> answers = new ArrayList<>();
            for (int i = 0; i < 11; i++) {
                answers.add(client.sendAsync(slow, HttpResponse.BodyHandlers.ofString()));
            }
            List<Integer> codes = new ArrayList<>();
            for (CompletableFuture<HttpResponse<String>> answer : answers) {
                HttpResponse<String> response = answer.get(20, TimeUnit.SECONDS);
                codes.add(response.statusCode());
                if (response.statusCode() == 429) {
                    assertThat(response.headers().firstValue("retry-after")).contains("1");
                    assertThat(response.body()).isEqualTo("Too many requests, please try again later.");
                }
            }
            assertThat(codes).containsOnly(504, 429).containsOnlyOnce(429);
        }
    }

    @Test
    void memoryOfIncomingBodiesIsLimited() throws Exception {
        // One user can hold a third of the memory.
        start(HttpClient.Version.HTTP_1_1, FlowControlOptions.DEFAULT, 900_000);
        List<SSLSocket> slow = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            SSLSocket socket = connect();
            slow.add(socket);
            // 200 kB of a body of 250 kB
            socket.getOutputStream()
                    .write(("POST /api/v1/nodes HTTP/1.1\r\nHost: x\r\nContent-Length: 250000\r\n\r\n"
                                    + " ".repeat(200_000))
                            .getBytes(StandardCharsets.US_ASCII));
            Thread.sleep(500);
        }
        // The second and third find no memory, and get the refusal after they have sent the whole body.
        for (SSLSocket socket : slow) {
            socket.getOutputStream().write(" ".repeat(50_000).getBytes(StandardCharsets.US_ASCII));
        }
        List<String> lines = new ArrayList<>();
        for (SSLSocket socket : slow) {
            lines.add(line(socket.getInputStream()));
            socket.close();
        }
        assertThat(lines).containsOnly("HTTP/1.1 400 Bad Request", "HTTP/1.1 429 Too Many Requests");
        assertThat(lines.stream().filter(line -> line.contains("429"))).hasSizeBetween(1, 2);
        // All memory is returned.
        assertThat(server.node("n1", 200_000).statusCode()).isEqualTo(201);
    }

    @ParameterizedTest
    @EnumSource(names = {"HTTP_1_1", "HTTP_2"})
    void largeBodyOfAnUnauthorizedUserIsNotBuffered(HttpClient.Version version) throws Exception {
        // given a server with memory for bodies of 30 KB
        start(version, FlowControlOptions.DEFAULT, 90_000);
        try (HttpClient nodes = HttpClient.newBuilder()
                .sslContext(TestCertificates.anonymous(Certificates.SERVER.get()))
                .version(version)
                .build()) {
            HttpRequest.Builder request =
                    server.request("/api/v1/nodes").POST(HttpRequest.BodyPublishers.ofString("x".repeat(1_000_000)));

            // when 1 MB arrives from an anonymous client, and from a node that may not create roles
            HttpResponse<String> anonymous = nodes.send(request.build(), HttpResponse.BodyHandlers.ofString());
            HttpResponse<String> node = nodes.send(
                    server.request("/apis/rbac.authorization.k8s.io/v1/clusterroles")
                            .header("Authorization", "Bearer n1")
                            .POST(HttpRequest.BodyPublishers.ofString("x".repeat(1_000_000)))
                            .build(),
                    HttpResponse.BodyHandlers.ofString());
            HttpResponse<String> allowed = nodes.send(
                    request.header("Authorization", "Bearer n1").build(), HttpResponse.BodyHandlers.ofString());

            // then they are refused as unauthorized; only an authorized user learns that there is no memory
            assertThat(anonymous.statusCode()).isEqualTo(403);
            assertThat(node.statusCode()).isEqualTo(403);
            assertThat(allowed.statusCode()).isEqualTo(429);
        }
    }

    @Test
    void memoryOfUnreadResponsesIsLimited() throws Exception {
        start(HttpClient.Version.HTTP_1_1, FlowControlOptions.DEFAULT, 20 << 20);
        for (int i = 0; i < 80; i++) {
            server.node("n" + i, 200_000);
        }
        List<SSLSocket> deaf = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            SSLSocket socket = connect();
            deaf.add(socket);
            socket.getOutputStream()
                    .write("GET /api/v1/nodes HTTP/1.1\r\nHost: x\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
        }
        List<String> lines = new ArrayList<>();
        for (SSLSocket socket : deaf) {
            lines.add(line(socket.getInputStream()));
        }
        assertThat(lines).contains("HTTP/1.1 200 OK", "HTTP/1.1 429 Too Many Requests");
        for (SSLSocket socket : deaf) {
            socket.close();
        }
        for (int i = 0; i < 100 && server.get("/api/v1/nodes").statusCode() != 200; i++) {
            Thread.sleep(100);
        }
        assertThat(server.get("/api/v1/nodes").statusCode()).isEqualTo(200);
    }

    @Test
    void listsAreRefusedOrCompleteHoweverManyConnectionsAUserHas() throws Exception {
        // given a user who has memory for one list of 2 MB at a time
        start(HttpClient.Version.HTTP_1_1, FlowControlOptions.DEFAULT, 6 << 20);
        for (int i = 0; i < 20; i++) {
            server.node("n" + i, 100_000);
        }
        // when eight connections list at the same time
        Map<Integer, AtomicInteger> codes = new ConcurrentHashMap<>();
        List<CompletableFuture<Void>> clients = new ArrayList<>();
        try (ThreadPool threads = new ThreadPool("clients", 8)) {
            for (int i = 0; i < 8; i++) {
                HttpClient client = server.client(HttpClient.Version.HTTP_1_1);
                clients.add(CompletableFuture.runAsync(
                        () -> {
                            for (int list = 0; list < 50; list++) {
                                codes.computeIfAbsent(list(client), code -> new AtomicInteger())
                                        .incrementAndGet();
                            }
                        },
                        threads));
            }
            CompletableFuture.allOf(clients.toArray(CompletableFuture[]::new)).get(60, TimeUnit.SECONDS);
        }
        // then no list that has begun is cut off, and all memory is given back
        assertThat(codes).containsOnlyKeys(200, 429);
        assertThat(server.get("/api/v1/nodes").statusCode()).isEqualTo(200);
    }

    /** The status of a list of all nodes, which must be complete. */
    private int list(HttpClient client) {
        try {
            HttpResponse<String> answer =
                    client.send(server.request("/api/v1/nodes").build(), HttpResponse.BodyHandlers.ofString());
            return answer.statusCode();
        } catch (IOException e) {
            throw new UncheckedIOException("a list was cut off", e);
        } catch (InterruptedException e) {
            throw new IllegalStateException("interrupted", e);
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"HTTP_1_1", "HTTP_2"})
    void idleWatchesLeaveMemoryForOthersAndForLargeLists(HttpClient.Version version) throws Exception {
        // given a server with memory for the start of eight watches, and a list of 600 KB
        start(version, FlowControlOptions.DEFAULT, 1 << 20);
        for (int i = 0; i < 6; i++) {
            server.node("n" + i, 100_000);
        }
        server.post("/api/v1/namespaces/default/configmaps", "{\"metadata\":{\"name\":\"c1\"}}");
        // when many more watches have read the existing objects
        List<BufferedReader> watches = new ArrayList<>();
        for (int i = 0; i < 40; i++) {
            InputStream body = server.client()
                    .send(
                            server.request("/api/v1/namespaces/default/configmaps?watch=true")
                                    .build(),
                            HttpResponse.BodyHandlers.ofInputStream())
                    .body();
            BufferedReader watch = new BufferedReader(new InputStreamReader(body, StandardCharsets.UTF_8));
            assertThat(watch.readLine()).as("watch %s", i).contains("\"name\":\"c1\"");
            watches.add(watch);
        }
        // then a large list is answered, as soon as the last watch has given back its part, after its first line
        HttpResponse<String> list = server.get("/api/v1/nodes");
        for (int tries = 0; list.statusCode() == 429 && tries < 100; tries++) {
            Thread.sleep(100);
            list = server.get("/api/v1/nodes");
        }
        assertThat(list.statusCode()).isEqualTo(200);
        assertThat(list.body()).hasSizeGreaterThan(600_000);
        // and all watches are open
        server.post("/api/v1/namespaces/default/configmaps", "{\"metadata\":{\"name\":\"c2\"}}");
        for (BufferedReader watch : watches) {
            assertThat(watch.readLine()).contains("\"name\":\"c2\"");
            watch.close();
        }
    }

    private SSLSocket connect() throws IOException {
        SSLSocket socket = (SSLSocket) server.admin.getSocketFactory().createSocket("127.0.0.1", server.https.port());
        socket.setSoTimeout(20_000);
        return socket;
    }

    private static String line(InputStream in) throws IOException {
        StringBuilder line = new StringBuilder();
        for (int c = in.read(); c >= 0 && c != '\n'; c = in.read()) {
            if (c != '\r') {
                line.append((char) c);
            }
        }
        return line.toString();
    }

    @Test
    void oldTlsVersionsAreRefusedAndCounted() throws Exception {
        start(HttpClient.Version.HTTP_1_1, FlowControlOptions.DEFAULT, 64 << 20);
        try (SSLSocket socket = connect()) {
            socket.setEnabledProtocols(new String[] {"TLSv1.2"});
            socket.startHandshake();
            assertThat(socket.getSession().getProtocol()).isEqualTo("TLSv1.2");
        }
        Process openssl = new ProcessBuilder(
                        "openssl",
                        "s_client",
                        "-connect",
                        "127.0.0.1:" + server.https.port(),
                        "-tls1_1",
                        "-cipher",
                        "ALL:@SECLEVEL=0")
                .redirectErrorStream(true)
                .redirectInput(ProcessBuilder.Redirect.from(new File("/dev/null")))
                .start();
        String said = new String(openssl.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(openssl.waitFor(10, TimeUnit.SECONDS)).isTrue();
        assertThat(openssl.exitValue()).as(said).isNotZero();
        assertThat(said).contains("alert protocol version");
        assertThat(server.get("/metrics").body()).contains("apiserver_tls_handshake_errors_total 1.0");
    }

    @Test
    void expiryOfAClientCertificateIsCountedOncePerConnection() throws Exception {
        start(HttpClient.Version.HTTP_1_1, FlowControlOptions.DEFAULT, 64 << 20);
        for (int i = 0; i < 3; i++) {
            assertThat(server.get("/healthz").body()).isEqualTo("ok");
        }
        try (HttpClient anonymous = HttpClient.newBuilder()
                .sslContext(TestCertificates.anonymous(Certificates.SERVER.get()))
                .build()) {
            anonymous.send(server.request("/healthz").build(), HttpResponse.BodyHandlers.ofString());
        }
        // It was just created with a validity of 90 days.
        String name = "apiserver_client_certificate_expiration_seconds_";
        assertThat(server.get("/metrics").body())
                .contains(name + "bucket{le=\"2592000.0\"} 0\n")
                .contains(name + "bucket{le=\"7776000.0\"} 1\n")
                .contains(name + "count 1\n");
    }

    @Test
    void newConnectionsGetARenewedCertificate() throws Exception {
        start(HttpClient.Version.HTTP_1_1, FlowControlOptions.DEFAULT, 64 << 20);
        assertThat(server.get("/healthz").body()).isEqualTo("ok");
        server.https.renew(Certificates.identity(Certificates.CLIENT.get(), Certificates.CLIENT.get()));
        // Existing connections stay. A new connection gets the new certificate, which this client does not trust.
        assertThat(server.get("/healthz").body()).isEqualTo("ok");
        assertThatThrownBy(() -> server.client(HttpClient.Version.HTTP_1_1)
                        .send(server.request("/healthz").build(), HttpResponse.BodyHandlers.ofString()))
                .isInstanceOf(IOException.class);
    }

    @Test
    @Tag("W88")
    void requestDuringAShutdownClosesItsConnection() throws Exception {
        start(HttpClient.Version.HTTP_1_1, FlowControlOptions.DEFAULT, 64 << 20);
        SSLSocket idle = connect();
        idle.startHandshake();
        SSLSocket slow = connect();
        slow.startHandshake();
        // The slow request takes three seconds, in which all that follows must happen: so the connections exist before.
        server.get("/metrics");
        slow.getOutputStream()
                .write("GET /api/v1/nodes/n1?resourceVersion=999999 HTTP/1.1\r\nHost: x\r\n\r\n"
                        .getBytes(StandardCharsets.US_ASCII));
        server.awaitInflightReads(2);
        CompletableFuture<Void> closing = CompletableFuture.runAsync(server.https::close);
        // Once the server stops, it refuses a request on an open connection, or closes this after an answer.
        try {
            while (server.get("/healthz").statusCode() != 503) {
                Thread.sleep(1);
            }
        } catch (IOException closed) {
            // The connection was closed, and no new one can be made.
        }
        idle.getOutputStream().write("GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
        String answer = new String(idle.getInputStream().readAllBytes(), StandardCharsets.US_ASCII).toLowerCase();
        assertThat(answer)
                .startsWith("http/1.1 503 service unavailable")
                .contains("retry-after: 1\r\n")
                .contains("connection: close\r\n");
        // The active request is completed.
        assertThat(line(slow.getInputStream())).isEqualTo("HTTP/1.1 504 Gateway Timeout");
        closing.get(20, TimeUnit.SECONDS);
        assertThatThrownBy(this::connect).isInstanceOf(IOException.class);
    }
}
