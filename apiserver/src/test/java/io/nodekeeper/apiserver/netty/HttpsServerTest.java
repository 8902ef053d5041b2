package io.nodekeeper.apiserver.netty;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.nodekeeper.client.TestCertificates;
import io.nodekeeper.client.config.Identity;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.net.http.HttpClient;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.zip.GZIPInputStream;
import javax.net.ssl.SSLContext;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Real HTTPS connections on loopback in real time; every wait has a deadline. */
@Timeout(60)
class HttpsServerTest {
    private static SSLContext anonymous;
    private static SSLContext stranger;
    private static SSLContext pushyStranger;

    private TransportServer server;
    private SSLContext admin;

    @BeforeAll
    static void makeCertificates() throws Exception {
        Identity trusted = Certificates.SERVER.get();
        Identity unknown = Certificates.make("CN=stranger,O=system:masters");
        anonymous = TestCertificates.anonymous(trusted);
        stranger = TestCertificates.context(unknown, trusted);
        pushyStranger = Certificates.pushy(unknown, trusted);
    }

    @BeforeEach
    void start() throws Exception {
        server = new TransportServer(HttpClient.Version.HTTP_1_1);
        admin = server.admin;
    }

    @AfterEach
    void stop() throws Exception {
        server.close();
    }

    /** A connection with raw access to its bytes. */
    private final class Connection implements AutoCloseable {
        private final Socket socket;
        private final InputStream in;
        private final OutputStream out;

        Connection(SSLContext tls) throws IOException {
            socket = tls.getSocketFactory().createSocket("127.0.0.1", server.https.port());
            socket.setSoTimeout(20_000);
            in = socket.getInputStream();
            out = socket.getOutputStream();
        }

        void send(String text) throws IOException {
            out.write(text.getBytes(StandardCharsets.UTF_8));
            out.flush();
        }

        String line() throws IOException {
            StringBuilder line = new StringBuilder();
            for (int c = in.read(); c != '\n'; c = in.read()) {
                if (c < 0) {
                    return line.isEmpty() ? "<end>" : line.toString();
                }
                if (c != '\r') {
                    line.append((char) c);
                }
            }
            return line.toString();
        }

        /** The status line and the body of the next response with a content length. */
        String answer() throws IOException {
            String status = line();
            int length = 0;
            for (String header = line(); !header.isEmpty() && !header.equals("<end>"); header = line()) {
                if (header.toLowerCase(Locale.ROOT).startsWith("content-length:")) {
                    length = Integer.parseInt(header.substring(15).strip());
                }
            }
            return status + " " + new String(in.readNBytes(length), StandardCharsets.UTF_8);
        }

        /** The status line of a chunked response; skips the headers. */
        String head() throws IOException {
            String status = line();
            while (!line().isEmpty()) {
                // Skipped.
            }
            return status;
        }

        String chunk() throws IOException {
            int length = Integer.parseInt(line(), 16);
            String text = new String(in.readNBytes(length), StandardCharsets.UTF_8);
            line();
            return text;
        }

        @Override
        public void close() throws IOException {
            socket.close();
        }
    }

    private static String get(String uri) {
        return "GET " + uri + " HTTP/1.1\r\nHost: x\r\n\r\n";
    }

    private static String create(String name, String padding) {
        String body = "{\"metadata\":{\"name\":\"" + name + "\",\"annotations\":{\"a\":\"" + padding + "\"}}}";
        return "POST /api/v1/nodes HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: "
                + body.length() + "\r\n\r\n" + body;
    }

    @Test
    @Tag("W3")
    void oneConnectionServesSeveralRequests() throws Exception {
        try (Connection connection = new Connection(admin)) {
            for (int i = 0; i < 3; i++) {
                connection.send(get("/api/v1/nodes"));
                assertThat(connection.answer()).startsWith("HTTP/1.1 200 OK {\"kind\":\"NodeList\"");
            }
            connection.send("HEAD /api/v1/nodes HTTP/1.1\r\nHost: x\r\n\r\n");
            assertThat(connection.head()).isEqualTo("HTTP/1.1 200 OK");
            connection.send(get("/healthz"));
            assertThat(connection.answer()).isEqualTo("HTTP/1.1 200 OK ok");
        }
    }

    @Test
    void pipelinedRequestsAreAnsweredInOrder() throws Exception {
        try (Connection connection = new Connection(admin)) {
            StringBuilder requests = new StringBuilder();
            for (int i = 0; i < 20; i++) {
                requests.append(create("n" + i, ""))
                        .append(get("/api/v1/nodes/n" + i))
                        .append(get("/healthz"));
            }
            connection.send(requests.toString());
            for (int i = 0; i < 20; i++) {
                assertThat(connection.answer())
                        .startsWith("HTTP/1.1 201 Created ")
                        .contains("\"name\":\"n" + i + "\"");
                assertThat(connection.answer()).startsWith("HTTP/1.1 200 OK ").contains("\"name\":\"n" + i + "\"");
                assertThat(connection.answer()).isEqualTo("HTTP/1.1 200 OK ok");
            }
        }
    }

    @Test
    void requestAfterAWatchIsAnsweredWhenTheWatchEnds() throws Exception {
        try (Connection connection = new Connection(admin)) {
            connection.send(get("/api/v1/nodes?watch=true&timeoutSeconds=1"));
            assertThat(connection.head()).isEqualTo("HTTP/1.1 200 OK");
            connection.send(get("/healthz"));
            assertThat(connection.line()).isEqualTo("0");
            assertThat(connection.line()).isEmpty();
            assertThat(connection.answer()).isEqualTo("HTTP/1.1 200 OK ok");
        }
    }

    @Test
    @Tag("W29")
    void bodyAboveTheLimitIsRefused() throws Exception {
        try (Connection connection = new Connection(admin)) {
            connection.send(create("n1", "x".repeat(3_200_000)));
            String answer = connection.answer();
            assertThat(answer)
                    .startsWith("HTTP/1.1 413 ")
                    .contains("\"message\":\"Request entity too large: limit is 3145728\"");
            assertThat(connection.line()).isEqualTo("<end>");
        }
        try (Connection connection = new Connection(admin)) {
            connection.send(get("/api/v1/nodes"));
            assertThat(connection.answer()).endsWith("\"items\":[]}");
        }
    }

    @Test
    void selectiveListIsCompleteWithAndWithoutCompression() throws Exception {
        // given 4 MB of objects; only the last one is selected
        for (int i = 0; i < 20; i++) {
            server.post(
                    "/api/v1/namespaces/default/configmaps",
                    "{\"metadata\":{\"name\":\"c" + (10 + i) + "\",\"labels\":{\"l\":\"" + (i == 19 ? "a" : "b")
                            + "\"}},\"data\":{\"d\":\"" + "x".repeat(200_000) + "\"}}");
        }
        // when they are listed, and watched from the first revision
        String selected = "/api/v1/namespaces/default/configmaps?labelSelector=l%3Da";
        String list = server.get(selected).body();
        HttpResponse<byte[]> packed = server.client(HttpClient.Version.HTTP_2)
                .send(
                        server.request(selected)
                                .header("Accept-Encoding", "gzip")
                                .build(),
                        HttpResponse.BodyHandlers.ofByteArray());
        String watch = server.get(selected + "&watch=1&timeoutSeconds=1&resourceVersion=0")
                .body();
        // then only the selected object arrives
        assertThat(list).contains("\"name\":\"c29\"").doesNotContain("c28").endsWith("]}");
        try (GZIPInputStream plain = new GZIPInputStream(new ByteArrayInputStream(packed.body()))) {
            assertThat(new String(plain.readAllBytes(), StandardCharsets.UTF_8)).isEqualTo(list);
        }
        assertThat(watch.lines().filter(line -> line.contains("\"ADDED\"")))
                .hasSize(1)
                .allMatch(line -> line.contains("c29"));
    }

    @Test
    void expectContinueIsAnswered() throws Exception {
        try (Connection connection = new Connection(admin)) {
            connection.send(
                    "POST /api/v1/nodes HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 28\r\n\r\n");
            assertThat(connection.line()).isEqualTo("HTTP/1.1 100 Continue");
            assertThat(connection.line()).isEmpty();
            connection.send("{\"metadata\":{\"name\":\"ab-c\"}}");
            assertThat(connection.answer()).startsWith("HTTP/1.1 201 Created ");
        }
    }

    @Test
    void malformedHttpIsRefused() throws Exception {
        for (String nonsense : new String[] {
            "nonsense\r\n\r\n",
            "GET  \r\n\r\n",
            "GET /%zz HTTP/1.1\r\nHost: x\r\n\r\n",
            "GET / HTTP/1.1\r\nbad header\r\n\r\n",
            "GET /" + "x".repeat(70_000) + " HTTP/1.1\r\n\r\n",
            "POST /api/v1/nodes HTTP/1.1\r\nContent-Length: x\r\n\r\n"
        }) {
            try (Connection connection = new Connection(admin)) {
                connection.send(nonsense);
                assertThat(connection.answer())
                        .as(nonsense.substring(0, Math.min(40, nonsense.length())))
                        .startsWith("HTTP/1.1 400 Bad Request ");
            }
        }
        try (Connection connection = new Connection(admin)) {
            connection.send(get("/healthz"));
            assertThat(connection.answer()).isEqualTo("HTTP/1.1 200 OK ok");
        }
    }

    @Test
    @Tag("W66")
    void watchSendsHeadersAndEventsAtOnceAndEndsCleanly() throws Exception {
        try (Connection watch = new Connection(admin);
                Connection writer = new Connection(admin)) {
            watch.send(get("/api/v1/nodes?watch=true&timeoutSeconds=8"));
            assertThat(watch.head()).isEqualTo("HTTP/1.1 200 OK");
            writer.send(create("n1", ""));
            writer.answer();
            assertThat(watch.chunk())
                    .startsWith("{\"type\":\"ADDED\",\"object\":{\"kind\":\"Node\"")
                    .endsWith("}\n");
            writer.send(create("n2", ""));
            writer.answer();
            assertThat(watch.chunk()).contains("\"name\":\"n2\"");
            assertThat(watch.line()).isEqualTo("0");
            assertThat(watch.line()).isEmpty();
            // The connection can be used again.
            watch.send(get("/healthz"));
            assertThat(watch.answer()).isEqualTo("HTTP/1.1 200 OK ok");
        }
    }

    @Test
    @Tag("W12")
    void fiftyWatchesGetTheirHeadersAtOnce() throws Exception {
        Connection[] watches = new Connection[50];
        for (int i = 0; i < watches.length; i++) {
            watches[i] = new Connection(admin);
            watches[i].send(get("/api/v1/nodes?watch=true"));
        }
        for (Connection watch : watches) {
            assertThat(watch.head()).isEqualTo("HTTP/1.1 200 OK");
            watch.close();
        }
    }

    @Test
    @Tag("W70")
    void watcherThatNeverReadsIsDisconnectedAndDelaysNoOther() throws Exception {
        try (Connection deaf = new Connection(admin);
                Connection good = new Connection(admin);
                Connection writer = new Connection(admin)) {
            deaf.send(get("/api/v1/nodes?watch=true"));
            good.send(get("/api/v1/nodes?watch=true"));
            assertThat(good.head()).isEqualTo("HTTP/1.1 200 OK");
            String padding = "x".repeat(200_000);
            // 60 MB, far more than sockets and the server buffer for a reader
            for (int i = 0; i < 300; i++) {
                writer.send(create("n" + i, padding));
                assertThat(writer.answer()).startsWith("HTTP/1.1 201 ");
                assertThat(good.chunk()).contains("\"name\":\"n" + i + "\"");
            }
            // The slow connection ends before the last event, and without the end of the response.
            String heard = new String(readToTheEnd(deaf), StandardCharsets.ISO_8859_1);
            assertThat(heard).contains("\"name\":\"n0\"").doesNotContain("\"name\":\"n299\"");
            assertThat(heard).doesNotEndWith("0\r\n\r\n");
        }
    }

    private static byte[] readToTheEnd(Connection connection) {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        byte[] part = new byte[64 << 10];
        try {
            for (int length = connection.in.read(part); length >= 0; length = connection.in.read(part)) {
                all.write(part, 0, length);
            }
        } catch (IOException e) {
            // A closed connection may end with a reset.
            assertThat(e).isNotInstanceOf(SocketTimeoutException.class);
        }
        return all.toByteArray();
    }

    @Test
    void clientCertificateAuthenticatesItsUser() throws Exception {
        try (Connection connection = new Connection(anonymous)) {
            connection.send(get("/healthz"));
            assertThat(connection.answer()).isEqualTo("HTTP/1.1 200 OK ok");
            connection.send(get("/api/v1/nodes"));
            assertThat(connection.answer())
                    .startsWith("HTTP/1.1 403 Forbidden ")
                    .contains("User \\\"system:anonymous\\\" cannot list");
        }
        try (Connection connection = new Connection(admin)) {
            connection.send("GET /api/v1/nodes HTTP/1.1\r\nHost: x\r\nImpersonate-User: bob\r\n\r\n");
            assertThat(connection.answer()).contains("User \\\"bob\\\" cannot list");
            // A header may occur several times, as with kubectl --as-group.
            connection.send("GET /api/v1/nodes HTTP/1.1\r\nHost: x\r\nImpersonate-User: bob\r\n"
                    + "Impersonate-Group: devs\r\nImpersonate-Group: system:masters\r\n\r\n");
            assertThat(connection.answer()).startsWith("HTTP/1.1 200 OK ");
        }
        try (Connection connection = new Connection(anonymous)) {
            connection.send("GET /version HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer wrong\r\n\r\n");
            assertThat(connection.answer()).startsWith("HTTP/1.1 401 Unauthorized ");
            assertThat(connection.line()).isEqualTo("<end>");
        }
    }

    @Test
    void certificateOfAnUnknownAuthorityIsRefused() throws Exception {
        // A client does not send its certificate if the server does not list its authority.
        try (Connection connection = new Connection(stranger)) {
            connection.send(get("/api/v1/nodes"));
            assertThat(connection.answer()).contains("User \\\"system:anonymous\\\" cannot list");
        }
        // The server refuses a client that sends it nevertheless.
        assertThatThrownBy(() -> {
                    try (Connection connection = new Connection(pushyStranger)) {
                        connection.send(get("/healthz"));
                        connection.answer();
                    }
                })
                .isInstanceOf(IOException.class);
    }

    @Test
    @Tag("W88")
    void shutdownEndsWatchesCleanly() throws Exception {
        try (Connection watch = new Connection(admin);
                Connection idle = new Connection(admin)) {
            idle.send(get("/healthz"));
            idle.answer();
            watch.send(get("/api/v1/nodes?watch=true"));
            assertThat(watch.head()).isEqualTo("HTTP/1.1 200 OK");
            server.https.close();
            assertThat(watch.line()).isEqualTo("0");
            assertThat(watch.line()).isEmpty();
            assertThat(watch.line()).isEqualTo("<end>");
            assertThat(idle.line()).isEqualTo("<end>");
        }
    }

    @Test
    void errorNamesAPortInUse() {
        HttpsOptions taken = HttpsOptions.of(
                new InetSocketAddress("127.0.0.1", server.https.port()), server.loop.clock(), server.workers);
        assertThatThrownBy(() -> HttpsServer.start(
                        server.core,
                        Certificates.identity(Certificates.SERVER.get(), Certificates.CLIENT.get()),
                        taken))
                .isInstanceOf(UncheckedIOException.class)
                .hasMessageContaining("cannot listen on ")
                .hasMessageContaining(Integer.toString(server.https.port()));
    }
}
