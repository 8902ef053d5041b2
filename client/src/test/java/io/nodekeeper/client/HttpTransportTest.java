package io.nodekeeper.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.InstanceOfAssertFactories.throwable;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpHandler;
import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsExchange;
import com.sun.net.httpserver.HttpsParameters;
import com.sun.net.httpserver.HttpsServer;
import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.client.config.ExecPlugin;
import io.nodekeeper.client.config.Identity;
import io.nodekeeper.client.config.Pem;
import io.nodekeeper.client.config.ServerAccess;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLPeerUnverifiedException;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Against a real HTTPS server on this machine, in real time; every wait is bounded. */
class HttpTransportTest {
    @TempDir
    static Path directory;

    private static Identity serverIdentity;
    private static Identity clientIdentity;
    private static Identity stranger;
    private static HttpsServer server;
    private static ExecutorService serverThreads;
    private static volatile HttpHandler behaviour = HttpExchange::close;

    private final List<HttpTransport> opened = new ArrayList<>();

    @BeforeAll
    static void startServer() throws Exception {
        serverIdentity = TestCertificates.make("CN=server", "ip:127.0.0.1,dns:api.example");
        clientIdentity = TestCertificates.make("CN=somebody", "dns:somebody");
        stranger = TestCertificates.make("CN=stranger", "dns:stranger");
        server = HttpsServer.create(new InetSocketAddress(InetAddress.getByName("127.0.0.1"), 0), 0);
        var context = TestCertificates.context(serverIdentity, clientIdentity);
        server.setHttpsConfigurator(new HttpsConfigurator(context) {
            @Override
            public void configure(HttpsParameters parameters) {
                SSLParameters ssl = context.getDefaultSSLParameters();
                ssl.setWantClientAuth(true);
                parameters.setSSLParameters(ssl);
            }
        });
        serverThreads = Executors.newCachedThreadPool();
        server.setExecutor(serverThreads);
        server.createContext("/", exchange -> behaviour.handle(exchange));
        server.start();
    }

    @AfterAll
    static void stopServer() {
        server.stop(0);
        serverThreads.shutdownNow();
    }

    @AfterEach
    void closeTransports() {
        opened.forEach(HttpTransport::close);
    }

    @Test
    void readsTheServersClockFromItsAnswers() throws Exception {
        // given
        // The JDK's server sends its own time in the header Date.
        behaviour = exchange -> answer(exchange, 200, "{}");
        HttpTransport transport = open(ServerAccess.withToken(address(), serverIdentity.certificate(), "t"));
        assertThat(transport.serverDate()).isEmpty();

        // when
        Instant before = Instant.now();
        get(transport.send(Call.get("/version")));
        Instant after = Instant.now();

        // then
        ServerDate reading = transport.serverDate().orElseThrow();
        assertThat(reading.date()).isBetween(before.minusSeconds(2), after.plusSeconds(1));
        assertThat(reading.sentAt()).isBetween(before, after);
        assertThat(reading.sentAt().plus(reading.roundTrip())).isAfterOrEqualTo(reading.sentAt());
    }

    @Test
    void carriesMethodPathBodyAndHeaders() throws Exception {
        // given
        LinkedBlockingQueue<String> seen = new LinkedBlockingQueue<>();
        behaviour = exchange -> {
            String body = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
            seen.add(exchange.getRequestMethod() + " " + exchange.getRequestURI() + " " + body);
            for (String header : List.of("Content-type", "Accept", "User-agent", "Authorization")) {
                seen.add(exchange.getRequestHeaders().getFirst(header));
            }
            answer(exchange, 201, "{}");
        };
        HttpTransport transport = open(ServerAccess.withToken(address(), serverIdentity.certificate(), "secret-token"));

        // when
        Reply reply = get(transport.send(new Call(
                "PATCH",
                "/api/v1/nodes/n1?fieldManager=me",
                "application/merge-patch+json",
                "{\"a\":1}".getBytes(StandardCharsets.UTF_8))));

        // then
        assertThat(reply.status()).isEqualTo(201);
        assertThat(reply.body()).asString().isEqualTo("{}");
        assertThat(seen)
                .containsExactly(
                        "PATCH /api/v1/nodes/n1?fieldManager=me {\"a\":1}",
                        "application/merge-patch+json",
                        "application/json",
                        "nodekeeper/" + Version.current(),
                        "Bearer secret-token");
    }

    @Test
    void showsItsClientCertificate() throws Exception {
        behaviour = exchange -> answer(
                exchange,
                200,
                ((HttpsExchange) exchange).getSSLSession().getPeerPrincipal().getName());
        HttpTransport transport =
                open(ServerAccess.withCertificate(address(), serverIdentity.certificate(), clientIdentity));

        Reply reply = get(transport.send(Call.get("/")));

        assertThat(reply.body()).asString().isEqualTo("CN=somebody");
    }

    @Test
    void refusesAServerWithoutACertificateOfTheAuthority() {
        HttpTransport transport = open(ServerAccess.withToken(address(), stranger.certificate(), "t"));

        CompletableFuture<Reply> reply = transport.send(Call.get("/version"));

        assertThatThrownBy(() -> get(reply))
                .cause()
                .isInstanceOf(TransportException.class)
                .hasMessageStartingWith("GET " + address() + "/version: ")
                .hasMessageContaining("PKIX path");
    }

    @Test
    void checksTheNameThatTheKubeconfigAsksFor() throws Exception {
        behaviour = exchange -> answer(exchange, 200, "ok");

        Reply reply = get(open(named("api.example")).send(Call.get("/")));
        CompletableFuture<Reply> other = open(named("other.example")).send(Call.get("/"));

        assertThat(reply.body()).asString().isEqualTo("ok");
        assertThatThrownBy(() -> get(other))
                .hasMessageContaining("the server's certificate is not for tls-server-name \"other.example\"");
    }

    @Test
    void insecureSkipTlsVerifyAcceptsAnyCertificate() throws Exception {
        behaviour = exchange -> answer(exchange, 200, "ok");
        ServerAccess access = new ServerAccess(address(), List.of(), true, "", Optional.empty(), "", Optional.empty());

        assertThat(get(open(access).send(Call.get("/"))).status()).isEqualTo(200);
    }

    @Test
    void readsTheTokenFromItsFile() throws Exception {
        behaviour =
                exchange -> answer(exchange, 200, exchange.getRequestHeaders().getFirst("Authorization"));
        Path file = Files.writeString(directory.resolve("token"), "from-file\n");
        ServerAccess access = new ServerAccess(
                address(),
                List.of(serverIdentity.certificate()),
                false,
                "",
                Optional.empty(),
                "ignored",
                Optional.of(file));

        assertThat(get(open(access).send(Call.get("/"))).body()).asString().isEqualTo("Bearer from-file");
    }

    /** Access whose user has a plugin that prints a credential with these fields. */
    private static ServerAccess plugin(JsonObject status) throws IOException {
        String version = "client.authentication.k8s.io/v1";
        Path printed = Files.write(
                directory.resolve("credential"),
                Json.writeBytes(JsonObject.builder()
                        .put("apiVersion", version)
                        .put("kind", "ExecCredential")
                        .put("status", status)
                        .build()));
        ExecPlugin plugin = new ExecPlugin(
                version,
                List.of("cat", printed.toString()),
                Map.of(),
                ExecPlugin.Interaction.Never,
                "",
                JsonObject.EMPTY);
        return new ServerAccess(
                address(),
                List.of(serverIdentity.certificate()),
                false,
                "",
                Optional.empty(),
                Optional.empty(),
                "",
                Optional.empty(),
                Optional.of(plugin));
    }

    @Test
    void sendsTheTokenOfAPluginWithCallsAndStreams() throws Exception {
        behaviour =
                exchange -> answer(exchange, 200, exchange.getRequestHeaders().getFirst("Authorization") + "\n");
        HttpTransport transport = open(plugin(JsonObject.EMPTY.with("token", "of-the-plugin")));
        Recording lines = new Recording();

        assertThat(get(transport.send(Call.get("/"))).body()).asString().isEqualTo("Bearer of-the-plugin\n");
        transport.open(Call.get("/watch"), lines);
        assertThat(lines.next()).isEqualTo("open");
        assertThat(lines.next()).isEqualTo("line Bearer of-the-plugin");
    }

    @Test
    void showsTheCertificateOfAPlugin() throws Exception {
        behaviour = exchange -> answer(
                exchange,
                200,
                ((HttpsExchange) exchange).getSSLSession().getPeerPrincipal().getName());
        JsonObject status = JsonObject.EMPTY
                .with("clientCertificateData", Pem.encode(clientIdentity.certificate()))
                .with("clientKeyData", Pem.encode(clientIdentity.key()));

        Reply reply = get(open(plugin(status)).send(Call.get("/")));

        assertThat(reply.body()).asString().isEqualTo("CN=somebody");
    }

    @Test
    void aRenewedCertificateIsShownFromTheNextCallOn() throws Exception {
        // given a connection without a certificate, which is kept for the next call
        behaviour = exchange -> answer(exchange, 200, user((HttpsExchange) exchange));
        HttpTransport transport = open(ServerAccess.withToken(address(), serverIdentity.certificate(), "t"));
        assertThat(get(transport.send(Call.get("/"))).body()).asString().isEqualTo("anonymous");

        transport.renew(clientIdentity);

        assertThat(get(transport.send(Call.get("/"))).body()).asString().isEqualTo("CN=somebody");
    }

    private static String user(HttpsExchange exchange) {
        try {
            return exchange.getSSLSession().getPeerPrincipal().getName();
        } catch (SSLPeerUnverifiedException e) {
            return "anonymous";
        }
    }

    @Test
    void callFailsWithTheReasonOfAPluginThatProvidesNothing() throws Exception {
        HttpTransport transport = open(plugin(JsonObject.EMPTY));

        assertThatThrownBy(() -> get(transport.send(Call.get("/version"))))
                .cause()
                .isInstanceOf(TransportException.class)
                .hasMessage(
                        "GET " + address() + "/version: the credential plugin \"cat\" printed an ExecCredential with"
                                + " neither a token nor a certificate");
    }

    @Test
    void tokenThatCannotBeSentIsNotQuoted() {
        ServerAccess access = ServerAccess.withToken(address(), serverIdentity.certificate(), "secret\nwords");

        assertThatThrownBy(() -> open(access))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("the token has a space, a line break")
                .hasMessageNotContaining("secret");
    }

    @Test
    void cancellingACallClosesItsConnection() throws Exception {
        // given a server that accepts, reads and never answers
        try (ServerSocket hanging = new ServerSocket(0, 5, InetAddress.getByName("127.0.0.1"))) {
            CountDownLatch asked = new CountDownLatch(1);
            CountDownLatch closed = new CountDownLatch(1);
            serverThreads.execute(() -> {
                try (Socket socket = hanging.accept()) {
                    if (socket.getInputStream().read() >= 0) {
                        asked.countDown();
                    }
                    socket.getInputStream().readAllBytes();
                } catch (IOException e) {
                    // Reset by the peer: closed as well.
                }
                closed.countDown();
            });
            URI address = URI.create("http://127.0.0.1:" + hanging.getLocalPort());
            HttpTransport transport =
                    open(new ServerAccess(address, List.of(), false, "", Optional.empty(), "", Optional.empty()));
            CompletableFuture<Reply> reply = transport.send(Call.get("/"));
            assertThat(asked.await(10, TimeUnit.SECONDS)).isTrue();

            // when
            reply.cancel(true);

            // then
            assertThat(closed.await(10, TimeUnit.SECONDS)).isTrue();
        }
    }

    @Test
    void closingFailsCallsAndStreamsThatAreUnderWay() throws Exception {
        // given a call, and a stream that is open
        CountDownLatch release = new CountDownLatch(1);
        behaviour = exchange -> {
            if (exchange.getRequestURI().getPath().equals("/watch")) {
                exchange.sendResponseHeaders(200, 0);
                exchange.getResponseBody().flush();
            }
            awaitQuietly(release);
            exchange.close();
        };
        HttpTransport transport = open(ServerAccess.withToken(address(), serverIdentity.certificate(), "t"));
        Recording lines = new Recording();
        transport.open(Call.get("/watch"), lines);
        assertThat(lines.next()).isEqualTo("open");
        CompletableFuture<Reply> reply = transport.send(Call.get("/slow"));

        // when
        transport.close();

        // then
        assertThat(lines.next()).isEqualTo("broken GET " + address() + "/watch: the client is closed");
        assertThatThrownBy(() -> get(reply)).hasMessageContaining("GET " + address() + "/slow: the client is closed");
        assertThatThrownBy(() -> get(transport.send(Call.get("/late")))).hasMessageContaining("is closed");
        release.countDown();
    }

    @Test
    void callsWithPlacesOfTheirOwnDoNotWaitForThoseThatHang() throws Exception {
        // given 64 calls that hang, which is as many as may run, and 64 that wait
        CountDownLatch held = new CountDownLatch(1);
        behaviour = exchange -> {
            if (exchange.getRequestURI().getPath().equals("/hangs")) {
                awaitQuietly(held, 60_000);
            }
            answer(exchange, 200, "{}");
        };
        HttpTransport transport = open(ServerAccess.withToken(address(), serverIdentity.certificate(), "t"));
        Transport heartbeats = transport.reserved(1);
        List<CompletableFuture<Reply>> hanging = new ArrayList<>();
        for (int i = 0; i < 128; i++) {
            hanging.add(transport.send(Call.get("/hangs")));
        }

        // when a call comes that has a place of its own
        Reply reply = heartbeats.send(Call.get("/lease")).get(20, TimeUnit.SECONDS);

        // then it is answered, and they still hang
        assertThat(reply.status()).isEqualTo(200);
        assertThat(hanging).noneMatch(CompletableFuture::isDone);
        held.countDown();
        CompletableFuture.allOf(hanging.toArray(CompletableFuture[]::new)).get(60, TimeUnit.SECONDS);
    }

    @Test
    void callsDoNotWaitForOneAnother() throws Exception {
        CountDownLatch release = new CountDownLatch(1);
        behaviour = exchange -> {
            if (exchange.getRequestURI().getPath().equals("/slow")) {
                awaitQuietly(release);
            }
            answer(exchange, 200, "ok");
        };
        HttpTransport transport = open(ServerAccess.withToken(address(), serverIdentity.certificate(), "t"));
        List<CompletableFuture<Reply>> slow = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            slow.add(transport.send(Call.get("/slow")));
        }

        Reply quick = get(transport.send(Call.get("/quick")));
        long answered = slow.stream().filter(CompletableFuture::isDone).count();
        release.countDown();

        assertThat(quick.status()).isEqualTo(200);
        assertThat(answered).isZero();
        for (CompletableFuture<Reply> reply : slow) {
            assertThat(get(reply).status()).isEqualTo(200);
        }
    }

    @Test
    void streamsLinesAsTheyCome() throws Exception {
        // given a server that waits for the client to have read the first line before it sends more
        CountDownLatch firstRead = new CountDownLatch(1);
        behaviour = exchange -> {
            exchange.sendResponseHeaders(200, 0);
            try (var body = exchange.getResponseBody()) {
                body.write("one\ntw".getBytes(StandardCharsets.UTF_8));
                body.flush();
                awaitQuietly(firstRead);
                body.write("o\n\nthree\n".getBytes(StandardCharsets.UTF_8));
            }
        };
        Recording lines = new Recording();

        // when
        open(ServerAccess.withToken(address(), serverIdentity.certificate(), "t"))
                .open(Call.get("/watch"), lines);

        // then
        assertThat(lines.next()).isEqualTo("open");
        assertThat(lines.next()).isEqualTo("line one");
        firstRead.countDown();
        assertThat(lines.next()).isEqualTo("line two");
        assertThat(lines.next()).isEqualTo("line ");
        assertThat(lines.next()).isEqualTo("line three");
        assertThat(lines.next()).isEqualTo("end");
    }

    @Test
    void reportsARefusedStream() throws Exception {
        behaviour = exchange -> answer(exchange, 410, "gone");
        Recording lines = new Recording();

        open(ServerAccess.withToken(address(), serverIdentity.certificate(), "t"))
                .open(Call.get("/watch"), lines);

        assertThat(lines.next()).isEqualTo("refused 410 gone");
    }

    @Test
    void reportsABrokenStreamAndDropsHalfALine() throws Exception {
        behaviour = exchange -> {
            // A length that is never reached: closing cuts the connection instead of ending the body.
            exchange.sendResponseHeaders(200, 1_000);
            exchange.getResponseBody().write("whole\nhal".getBytes(StandardCharsets.UTF_8));
            exchange.getResponseBody().flush();
            exchange.close();
        };
        Recording lines = new Recording();

        open(ServerAccess.withToken(address(), serverIdentity.certificate(), "t"))
                .open(Call.get("/watch"), lines);

        assertThat(lines.next()).isEqualTo("open");
        assertThat(lines.next()).isEqualTo("line whole");
        assertThat(lines.next()).startsWith("broken GET " + address() + "/watch: ");
    }

    @Test
    void aCancelledStreamClosesItsConnectionAndSaysNoMore() throws Exception {
        // given
        CountDownLatch closed = new CountDownLatch(1);
        behaviour = exchange -> {
            exchange.sendResponseHeaders(200, 0);
            try {
                while (true) {
                    exchange.getResponseBody().write("tick\n".getBytes(StandardCharsets.UTF_8));
                    exchange.getResponseBody().flush();
                    awaitQuietly(closed, 20);
                }
            } catch (IOException e) {
                closed.countDown();
            }
        };
        Recording lines = new Recording();
        Transport.Stream stream = open(ServerAccess.withToken(address(), serverIdentity.certificate(), "t"))
                .open(Call.get("/watch"), lines);
        assertThat(lines.next()).isEqualTo("open");

        // when
        stream.cancel();

        // then
        assertThat(closed.await(10, TimeUnit.SECONDS)).isTrue();
        assertThat(lines.all).allMatch(line -> line.equals("line tick"));
    }

    @Test
    void readsNoMoreThanTheHandlerTakes() throws Exception {
        // given a handler that does not finish with what it got, and a server that counts what it could send
        CompletableFuture<Void> busy = new CompletableFuture<>();
        LinkedBlockingQueue<Integer> sent = new LinkedBlockingQueue<>();
        behaviour = exchange -> {
            exchange.sendResponseHeaders(200, 0);
            byte[] megabyte = "x".repeat((1 << 20) - 1).concat("\n").getBytes(StandardCharsets.UTF_8);
            try (var body = exchange.getResponseBody()) {
                for (int i = 0; i < 64; i++) {
                    body.write(megabyte);
                    sent.add(i);
                }
            }
        };
        Recording lines = new Recording() {
            @Override
            public CompletableFuture<Void> drained() {
                return busy;
            }
        };

        // when
        open(ServerAccess.withToken(address(), serverIdentity.certificate(), "t"))
                .open(Call.get("/watch"), lines);
        assertThat(lines.next()).isEqualTo("open");
        while (sent.poll(500, TimeUnit.MILLISECONDS) != null) {
            // The server fills what the network holds, then stands.
        }

        // then the rest comes as soon as the handler is ready
        assertThat(lines.all).hasSizeLessThan(32);
        busy.complete(null);
        for (int i = 0; i < 64; i++) {
            assertThat(lines.next()).startsWith("line xxx");
        }
        assertThat(lines.next()).isEqualTo("end");
    }

    @Test
    void failsACallWithoutAServer() throws Exception {
        int port;
        try (ServerSocket free = new ServerSocket(0)) {
            port = free.getLocalPort();
        }
        URI address = URI.create("https://127.0.0.1:" + port);

        CompletableFuture<Reply> reply = open(ServerAccess.withToken(address, serverIdentity.certificate(), "t"))
                .send(Call.get("/x"));

        assertThat(reply)
                .failsWithin(java.time.Duration.ofSeconds(10))
                .withThrowableThat()
                .extracting(Throwable::getCause, throwable(TransportException.class))
                .hasMessage("GET " + address + "/x: Connection refused: /127.0.0.1:" + port);
    }

    /** A machine that has no process id left: the answers arrive, but no thread can be started for what follows them. */
    @Test
    void callsAndStreamsEndWithoutAThreadForTheirEnd() throws Exception {
        // given
        behaviour = exchange -> answer(exchange, 200, "ok\n");
        HttpTransport transport = new HttpTransport(
                ServerAccess.withToken(address(), serverIdentity.certificate(), "t"), 1 << 20, 4, pool -> task -> {
                    throw new OutOfMemoryError("unable to create native thread");
                });
        opened.add(transport);
        Recording lines = new Recording();

        // when
        Reply reply = get(transport.send(Call.get("/")));
        transport.open(Call.get("/watch"), lines);

        // then
        assertThat(reply.body()).asString().isEqualTo("ok\n");
        assertThat(lines.next()).isEqualTo("open");
        assertThat(lines.next()).isEqualTo("line ok");
        assertThat(lines.next()).isEqualTo("end");
    }

    private HttpTransport open(ServerAccess access) {
        HttpTransport transport = new HttpTransport(access);
        opened.add(transport);
        return transport;
    }

    private static URI address() {
        return URI.create("https://127.0.0.1:" + server.getAddress().getPort());
    }

    private static ServerAccess named(String name) {
        return new ServerAccess(
                address(), List.of(serverIdentity.certificate()), false, name, Optional.empty(), "", Optional.empty());
    }

    private static Reply get(CompletableFuture<Reply> reply) throws Exception {
        return reply.get(10, TimeUnit.SECONDS);
    }

    private static void answer(HttpExchange exchange, int status, String text) throws IOException {
        byte[] body = text.getBytes(StandardCharsets.UTF_8);
        exchange.sendResponseHeaders(status, body.length);
        try (var out = exchange.getResponseBody()) {
            out.write(body);
        }
    }

    private static void awaitQuietly(CountDownLatch latch) {
        awaitQuietly(latch, 10_000);
    }

    private static void awaitQuietly(CountDownLatch latch, long millis) {
        try {
            latch.await(millis, TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static class Recording implements Transport.StreamHandler {
        final LinkedBlockingQueue<String> all = new LinkedBlockingQueue<>();

        String next() throws InterruptedException {
            return Optional.ofNullable(all.poll(10, TimeUnit.SECONDS)).orElse("nothing came");
        }

        @Override
        public void onOpen() {
            all.add("open");
        }

        @Override
        public void onLine(byte[] line) {
            all.add("line " + new String(line, StandardCharsets.UTF_8));
        }

        @Override
        public void onEnd(Optional<Reply> refusal, Optional<TransportException> why) {
            if (refusal.isPresent()) {
                all.add("refused " + refusal.get().status() + " "
                        + new String(refusal.get().body(), StandardCharsets.UTF_8));
            } else {
                all.add(why.map(broken -> "broken " + broken.getMessage()).orElse("end"));
            }
        }
    }
}
