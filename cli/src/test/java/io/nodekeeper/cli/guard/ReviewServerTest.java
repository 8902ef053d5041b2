package io.nodekeeper.cli.guard;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.nodekeeper.cli.certs.Issuer;
import io.nodekeeper.client.certificates.EcKeys;
import io.nodekeeper.client.config.ClientTls;
import io.nodekeeper.client.config.Identity;
import io.nodekeeper.time.Clock;
import io.nodekeeper.time.Randoms;
import io.nodekeeper.time.ThreadLoop;
import io.nodekeeper.time.Workers;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import javax.net.ssl.SSLSocket;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The endpoint over real TLS: good, malformed, huge and slow requests. The reviewer behind it echoes. */
@Timeout(60)
class ReviewServerTest {
    /** The machine's clock, set ahead. */
    private static final class AheadClock implements Clock {
        private volatile Duration ahead = Duration.ZERO;

        @Override
        public long nanoTime() {
            return System.nanoTime();
        }

        @Override
        public Instant wallTime() {
            return Instant.now().plus(ahead);
        }
    }

    private final AheadClock clock = new AheadClock();
    private final ThreadLoop loop = new ThreadLoop("test");
    private final Workers workers = new Workers("review", 2, loop);
    private final ConcurrentLinkedQueue<Integer> sizes = new ConcurrentLinkedQueue<>();
    private ServingCertificate certificate = issued();
    private ReviewServer server;

    private static ServingCertificate issued() {
        return ServingCertificate.issue(List.of("127.0.0.1"), Instant.now(), Randoms.secure());
    }

    @BeforeEach
    void start() throws IOException {
        start(ReviewClients.ALL);
    }

    private void start(ReviewClients clients) throws IOException {
        server = new ReviewServer(
                new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), clients, clock, workers, body -> {
                    sizes.add(body.length);
                    return body.length == 3
                            ? CompletableFuture.failedFuture(new IllegalArgumentException("the body is bad"))
                            : CompletableFuture.completedFuture(body);
                });
        server.show(certificate.identity());
    }

    @AfterEach
    void stop() {
        server.close();
        workers.close();
        loop.close();
    }

    private HttpClient client() throws Exception {
        return client(Optional.empty());
    }

    private HttpClient client(Optional<Identity> identity) throws Exception {
        return HttpClient.newBuilder()
                .sslContext(ClientTls.context(identity, List.of(certificate.authority())))
                .build();
    }

    private HttpRequest.Builder request(String path) {
        return HttpRequest.newBuilder(
                URI.create("https://127.0.0.1:" + server.address().getPort() + path));
    }

    private HttpResponse<String> post(HttpClient client, byte[] body) throws Exception {
        return client.send(
                request("/validate?timeout=1s")
                        .POST(HttpRequest.BodyPublishers.ofByteArray(body))
                        .build(),
                HttpResponse.BodyHandlers.ofString());
    }

    private SSLSocket connect() throws Exception {
        SSLSocket socket = (SSLSocket) ClientTls.context(Optional.empty(), List.of(certificate.authority()))
                .getSocketFactory()
                .createSocket("127.0.0.1", server.address().getPort());
        socket.setSoTimeout(30_000);
        return socket;
    }

    @Test
    void reviewsOfOneConnectionAreAnsweredOneAfterAnother() throws Exception {
        try (HttpClient client = client()) {
            for (int i = 0; i < 50; i++) {
                HttpResponse<String> answer =
                        post(client, ("review " + i).repeat(1_000).getBytes(StandardCharsets.US_ASCII));
                assertThat(answer.statusCode()).isEqualTo(200);
                assertThat(answer.body()).startsWith("review " + i);
            }
            assertThat(server.open()).isEqualTo(1);
        }
    }

    @Test
    void aReviewOfTheLargestObjectsIsReadAndALargerOneIsRefused() throws Exception {
        try (HttpClient client = client()) {
            assertThat(post(client, new byte[ReviewHandler.BODY_BYTES]).statusCode())
                    .isEqualTo(200);
            try {
                assertThat(post(client, new byte[ReviewHandler.BODY_BYTES + 1]).statusCode())
                        .isEqualTo(413);
            } catch (IOException e) {
                // The client was still sending when the server closed the connection: an error lets the write pass,
                // too.
                assertThat(e).isNotNull();
            }
        }
        assertThat(sizes).containsExactly(ReviewHandler.BODY_BYTES);
    }

    @Test
    void whatIsNoReviewIsRefused() throws Exception {
        try (HttpClient client = client()) {
            HttpResponse<String> bad = post(client, new byte[3]);
            assertThat(bad.statusCode()).isEqualTo(400);
            assertThat(bad.body()).isEqualTo("the body is bad\n");
            assertThat(client.send(request("/validate").GET().build(), HttpResponse.BodyHandlers.ofString())
                            .statusCode())
                    .isEqualTo(405);
            assertThat(client.send(
                                    request("/metrics")
                                            .POST(HttpRequest.BodyPublishers.ofString("x"))
                                            .build(),
                                    HttpResponse.BodyHandlers.ofString())
                            .statusCode())
                    .isEqualTo(404);
        }
    }

    @Test
    void onlyTheApiServersCertificateMaySendReviewsIfAnAuthorityIsGiven() throws Exception {
        // given an authority that signs the certificates of the API server and of a node, and another authority
        Identity authority = Issuer.authority(EcKeys.newKey(), Instant.now(), Randoms.secure());
        Issuer issuer = new Issuer(authority, Randoms.secure());
        Identity apiServer = issuer.client("kube-apiserver", List.of(), Instant.now());
        Identity node = issuer.client("system:node:n1", List.of("system:nodes"), Instant.now());
        Identity stranger = new Issuer(
                        Issuer.authority(EcKeys.newKey(), Instant.now(), Randoms.secure()), Randoms.secure())
                .client("kube-apiserver", List.of(), Instant.now());
        server.close();
        start(new ReviewClients(List.of(authority.certificate()), List.of("kube-apiserver")));

        // then the API server's reviews are answered, and no others
        try (HttpClient client = client(Optional.of(apiServer))) {
            assertThat(post(client, new byte[10]).statusCode()).isEqualTo(200);
        }
        try (HttpClient client = client(Optional.of(node))) {
            HttpResponse<String> answer = post(client, new byte[10]);
            assertThat(answer.statusCode()).isEqualTo(403);
            assertThat(answer.body())
                    .isEqualTo("the client \"system:node:n1\" is none of those in --guard-client-names\n");
        }
        try (HttpClient client = client(Optional.of(stranger))) {
            assertThatThrownBy(() -> post(client, new byte[10])).isInstanceOf(IOException.class);
        }
        try (HttpClient client = client()) {
            assertThatThrownBy(() -> post(client, new byte[10])).isInstanceOf(IOException.class);
        }
        assertThat(sizes).containsExactly(10);
    }

    @Test
    void certificateThatEndsIsRefusedOnAnOpenConnection() throws Exception {
        // given a client whose certificate was good when its connection began
        Identity authority = Issuer.authority(EcKeys.newKey(), Instant.now(), Randoms.secure());
        Identity apiServer = new Issuer(authority, Randoms.secure()).client("kube-apiserver", List.of(), Instant.now());
        server.close();
        start(new ReviewClients(List.of(authority.certificate()), List.of()));
        try (HttpClient client = client(Optional.of(apiServer))) {
            assertThat(post(client, new byte[10]).statusCode()).isEqualTo(200);

            // when it ends
            clock.ahead = Duration.ofDays(366);
            HttpResponse<String> answer = post(client, new byte[10]);

            // then
            assertThat(answer.statusCode()).isEqualTo(403);
            assertThat(answer.body())
                    .isEqualTo("the client's certificate ended at "
                            + apiServer.certificate().getNotAfter().toInstant() + "\n");
        }
        assertThat(sizes).containsExactly(10);
    }

    @Test
    void clientThatDoesNotWaitForItsAnswerIsDisconnected() throws Exception {
        try (SSLSocket hasty = connect();
                HttpClient client = client()) {
            // when a client sends two reviews at once
            hasty.getOutputStream()
                    .write("POST /validate HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n0123456789"
                            .repeat(2)
                            .getBytes(StandardCharsets.US_ASCII));
            hasty.getOutputStream().flush();

            // then it gets no answer, and at most one of them is reviewed
            assertThat(hasty.getInputStream().read()).isEqualTo(-1);
            assertThat(sizes).hasSizeLessThanOrEqualTo(1);

            // and others are served
            assertThat(post(client, new byte[20]).statusCode()).isEqualTo(200);
            assertThat(sizes).contains(20).hasSizeLessThanOrEqualTo(2);
        }
    }

    @Test
    void rubbishInsideTlsIsRefused() throws Exception {
        try (SSLSocket socket = connect()) {
            socket.getOutputStream().write("\0\0\0 rubbish\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
            socket.getOutputStream().flush();
            String answer = new String(socket.getInputStream().readAllBytes(), StandardCharsets.US_ASCII);
            assertThat(answer).startsWith("HTTP/1.1 400");
        }
    }

    @Test
    void aSlowClientIsDisconnectedAndDelaysNobody() throws Exception {
        try (SSLSocket slow = connect();
                HttpClient client = client()) {
            slow.getOutputStream()
                    .write("POST /validate HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nabc"
                            .getBytes(StandardCharsets.US_ASCII));
            slow.getOutputStream().flush();
            assertThat(post(client, new byte[10]).statusCode()).isEqualTo(200);
            // then the server closes the slow connection without an answer
            InputStream in = slow.getInputStream();
            assertThat(in.read()).isEqualTo(-1);
        }
        assertThat(sizes).containsExactly(10);
    }

    @Test
    void moreConnectionsThanTheLimitDoNotKeepAReviewAway() throws Exception {
        List<SSLSocket> idle = new ArrayList<>();
        try (HttpClient client = client()) {
            for (int i = 0; i < ReviewServer.CONNECTIONS + 20; i++) {
                SSLSocket socket = connect();
                idle.add(socket);
                // Each is in the middle of its handshake.
            }
            assertThat(post(client, new byte[10]).statusCode()).isEqualTo(200);
            assertThat(server.open()).isLessThanOrEqualTo(ReviewServer.CONNECTIONS);
        } finally {
            for (SSLSocket socket : idle) {
                socket.close();
            }
        }
    }

    @Test
    void aNewCertificateIsShownToNewConnections() throws Exception {
        try (HttpClient before = client()) {
            assertThat(post(before, new byte[10]).statusCode()).isEqualTo(200);
            certificate = issued();
            server.show(certificate.identity());
            // An open connection goes on.
            assertThat(post(before, new byte[10]).statusCode()).isEqualTo(200);
        }
        try (HttpClient after = client()) {
            assertThat(post(after, new byte[10]).statusCode()).isEqualTo(200);
        }
    }

    @Test
    void withoutACertificateEveryConnectionIsClosed() throws Exception {
        try (ReviewServer bare = new ReviewServer(
                new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
                ReviewClients.ALL,
                clock,
                workers,
                CompletableFuture::completedFuture)) {
            try (SSLSocket socket = (SSLSocket) ClientTls.context(Optional.empty(), List.of(certificate.authority()))
                    .getSocketFactory()
                    .createSocket("127.0.0.1", bare.address().getPort())) {
                assertThatThrownBy(socket::startHandshake).isInstanceOf(IOException.class);
            }
        }
    }
}
