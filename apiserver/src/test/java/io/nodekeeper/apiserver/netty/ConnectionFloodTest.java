package io.nodekeeper.apiserver.netty;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.apiserver.flowcontrol.FlowControlOptions;
import io.nodekeeper.apiserver.netty.connections.ConnectionLimits;
import io.nodekeeper.client.TestCertificates;
import io.nodekeeper.client.tls.KeyUpdateClient;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.SocketTimeoutException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A client without a credential that opens connections and streams, while others go on. */
@Timeout(180)
class ConnectionFloodTest {
    private final List<SSLSocket> sockets = new ArrayList<>();

    /** Each test starts a server with its own limits. */
    @SuppressWarnings("NullAway.Init")
    private TransportServer server;

    private void start(int most, long unprovenBytes) throws Exception {
        server = new TransportServer(
                FlowControlOptions.DEFAULT,
                HttpClient.Version.HTTP_2,
                Duration.ofSeconds(20),
                64 << 20,
                new ConnectionLimits(most, unprovenBytes));
    }

    @AfterEach
    void stop() throws Exception {
        for (SSLSocket socket : sockets) {
            socket.setSoLinger(true, 0);
            socket.close();
        }
        server.close();
    }

    private SSLSocket connect(SSLContext context, String protocol) throws IOException {
        SSLSocket socket = (SSLSocket) context.getSocketFactory().createSocket("127.0.0.1", server.https.port());
        // Handshakes wait for their turn behind hostile clients, on a busy machine for many seconds.
        socket.setSoTimeout(30_000);
        SSLParameters parameters = socket.getSSLParameters();
        parameters.setApplicationProtocols(new String[] {protocol});
        socket.setSSLParameters(parameters);
        socket.startHandshake();
        // Shorter than the time after which the server closes connections without a request.
        socket.setSoTimeout(10_000);
        sockets.add(socket);
        return socket;
    }

    private SSLSocket anonymous(String protocol) throws Exception {
        return connect(TestCertificates.anonymous(Certificates.SERVER.get()), protocol);
    }

    /** Asks on a connection of HTTP/1.1, and returns the start of the answer; empty if the connection is closed. */
    private static String ask(SSLSocket socket, String token) {
        return ask(socket, "/api/v1/nodes?limit=1", token);
    }

    private static String ask(SSLSocket socket, String path, String token) {
        try {
            String authorization = token.isEmpty() ? "" : "Authorization: Bearer " + token + "\r\n";
            socket.getOutputStream()
                    .write(("GET " + path + " HTTP/1.1\r\nHost: x\r\n" + authorization + "\r\n")
                            .getBytes(StandardCharsets.US_ASCII));
            byte[] start = socket.getInputStream().readNBytes(12);
            while (socket.getInputStream().available() > 0) {
                socket.getInputStream().skipNBytes(socket.getInputStream().available());
            }
            return new String(start, StandardCharsets.US_ASCII);
        } catch (IOException e) {
            return "";
        }
    }

    @Test
    void recordsFullOfKeyUpdatesEndTheirConnection() throws Exception {
        // given clients with a certificate and with a token
        start(100, 64 << 20);
        SSLSocket certified = connect(server.admin, "http/1.1");
        SSLSocket token = anonymous("http/1.1");
        assertThat(ask(token, "controller")).isEqualTo("HTTP/1.1 200");

        // when three others send as many key updates as a record holds, and another one as many at the end of the
        // handshake
        List<KeyUpdateClient> hostile = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            hostile.add(new KeyUpdateClient(server.https.port()));
        }
        for (KeyUpdateClient client : hostile) {
            client.updates(KeyUpdateClient.RECORD);
        }
        hostile.add(new KeyUpdateClient(server.https.port(), KeyUpdateClient.RECORD - 100));
        hostile.getLast().updates(KeyUpdateClient.RECORD);

        // then the others go on, and those are closed
        assertThat(ask(certified, "")).isEqualTo("HTTP/1.1 200");
        assertThat(ask(token, "controller")).isEqualTo("HTTP/1.1 200");
        for (KeyUpdateClient client : hostile) {
            assertThat(client.ends()).isTrue();
            client.close();
        }

        // and a client that does it after a request with a token is closed, too, but its user may connect again
        try (KeyUpdateClient known = new KeyUpdateClient(server.https.port())) {
            known.send("GET /api/v1/nodes?limit=1 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer controller\r\n\r\n");
            assertThat(known.read(12)).isEqualTo("HTTP/1.1 200");
            known.updates(KeyUpdateClient.RECORD);
            assertThat(known.ends()).isTrue();
        }
        SSLSocket again = anonymous("http/1.1");
        // Nothing has shown yet who it is, so its request waits for a turn, too.
        again.setSoTimeout(30_000);
        assertThat(ask(again, "controller")).isEqualTo("HTTP/1.1 200");
    }

    @Test
    void clientsWithACredentialKeepTheirConnections() throws Exception {
        // given clients with a certificate, with a token, and without either, and room for 16 connections
        start(16, 64 << 20);
        SSLSocket certified = connect(server.admin, "http/1.1");
        SSLSocket token = anonymous("http/1.1");
        assertThat(ask(token, "controller")).isEqualTo("HTTP/1.1 200");
        SSLSocket unknown = anonymous("http/1.1");
        assertThat(ask(unknown, "")).isEqualTo("HTTP/1.1 403");

        // when 40 connect and ask for nothing
        for (int i = 0; i < 40; i++) {
            anonymous("h2");
        }

        // then only the last one has lost its connection, and new clients are served
        assertThat(ask(certified, "")).isEqualTo("HTTP/1.1 200");
        assertThat(ask(token, "controller")).isEqualTo("HTTP/1.1 200");
        assertThat(ask(unknown, "")).isEmpty();
        assertThat(server.get("/healthz").body()).isEqualTo("ok");
        assertThat(ask(anonymous("http/1.1"), "controller")).isEqualTo("HTTP/1.1 200");
    }

    @Test
    void anonymousRequestThatIsAllowedProvesNothing() throws Exception {
        start(16, 64 << 20);
        SSLSocket unknown = anonymous("http/1.1");
        assertThat(ask(unknown, "/healthz", "")).isEqualTo("HTTP/1.1 200");
        for (int i = 0; i < 16; i++) {
            anonymous("h2");
        }
        assertThat(ask(unknown, "")).isEmpty();
    }

    @Test
    void streamsWhoseBodiesDoNotComeAreLimited() throws Exception {
        // given memory for about 120 streams of clients without a credential
        start(1_000, 1 << 20);
        List<SSLSocket> floods = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            SSLSocket flood = anonymous("h2");
            floods.add(flood);
            // when each of five opens 100
            flood.getOutputStream().write(streams(100));
            server.get("/healthz");
        }
        // then the newest stays, and the others are closed without waiting for their streams
        assertThat(ends(floods.getFirst())).isTrue();
        // and a client with a credential may have as many as it wants
        List<CompletableFuture<HttpResponse<String>>> answers = new ArrayList<>();
        for (int i = 0; i < 200; i++) {
            answers.add(server.client()
                    .sendAsync(
                            server.request("/api/v1/nodes/n1?resourceVersion=999999")
                                    .build(),
                            HttpResponse.BodyHandlers.ofString()));
        }
        for (var answer : answers) {
            assertThat(answer.get().statusCode()).isEqualTo(504);
        }
    }

    @Test
    void firstRequestsOfAClientWithATokenMayBeMany() throws Exception {
        start(1_000, 64 << 20);
        try (HttpClient client = HttpClient.newBuilder()
                .sslContext(TestCertificates.anonymous(Certificates.SERVER.get()))
                .version(HttpClient.Version.HTTP_2)
                .build()) {
            HttpRequest request = server.request("/api/v1/nodes")
                    .header("Authorization", "Bearer controller")
                    .build();
            List<CompletableFuture<HttpResponse<String>>> answers = new ArrayList<>();
            for (int i = 0; i < 200; i++) {
                answers.add(client.sendAsync(request, HttpResponse.BodyHandlers.ofString()));
            }
            for (var answer : answers) {
                assertThat(answer.get().statusCode()).isEqualTo(200);
            }
        }
    }

    /** Whether the server closes a connection within ten seconds. */
    private static boolean ends(SSLSocket socket) {
        try {
            socket.getInputStream().readAllBytes();
            return true;
        } catch (SocketTimeoutException e) {
            return false;
        } catch (IOException e) {
            return true;
        }
    }

    /** The start of HTTP/2 and so many requests whose bodies do not come. */
    private static byte[] streams(int count) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        out.writeBytes("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
        out.writeBytes(new byte[] {0, 0, 0, 4, 0, 0, 0, 0, 0});
        for (int i = 0; i < count; i++) {
            // POST, https, authority x, path /
            byte[] head = {(byte) 0x83, (byte) 0x87, 1, 1, 'x', (byte) 0x84};
            int stream = 2 * i + 1;
            out.writeBytes(new byte[] {0, 0, (byte) head.length, 1, 4, 0, 0, (byte) (stream >> 8), (byte) stream});
            out.writeBytes(head);
        }
        return out.toByteArray();
    }
}
