package io.nodekeeper.agent.pods.probes;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsParameters;
import com.sun.net.httpserver.HttpsServer;
import io.nodekeeper.agent.pods.model.Action;
import io.nodekeeper.agent.pods.model.ContainerSpec;
import io.nodekeeper.api.json.Json;
import io.nodekeeper.client.TestCertificates;
import io.nodekeeper.client.config.Identity;
import io.nodekeeper.cri.ContainerState;
import io.nodekeeper.cri.FakeRuntime;
import io.nodekeeper.cri.RuntimeCallException;
import io.nodekeeper.time.ThreadLoop;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SNIMatcher;
import javax.net.ssl.SNIServerName;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.StandardConstants;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Actions against real sockets of this machine, and a simulated runtime. */
class NodeProberTest {
    private static final Duration TIMEOUT = Duration.ofSeconds(20);

    private final ThreadLoop loop = new ThreadLoop("test");
    private final FakeRuntime runtime = new FakeRuntime(loop);
    private final CountDownLatch hung = new CountDownLatch(1);
    private final NodeProber prober = new NodeProber(runtime, loop, this::resolve);
    private HttpServer server;
    private ContainerSpec container;

    @BeforeEach
    void serve() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.start();
        int port = server.getAddress().getPort();
        container = new ContainerSpec(Json.parseObject(
                "{\"name\": \"app\", \"ports\": [{\"name\": \"web\", \"containerPort\": " + port + "}]}"));
    }

    @AfterEach
    void stop() {
        hung.countDown();
        prober.close();
        loop.close();
        server.stop(0);
    }

    @Test
    void shouldGetAPageOfANamedPortWithTheHeadersAndTheHostThatTheProbeSays() throws Exception {
        answer(
                "/healthz",
                200,
                exchange -> exchange.getRequestHeaders().getFirst("Host") + " "
                        + exchange.getRequestHeaders().get("X-Probe") + " "
                        + exchange.getRequestHeaders().getFirst("User-Agent") + " "
                        + exchange.getRequestURI().getQuery());

        ProbeResult result = run(new Action.Http(
                "",
                "web",
                "/healthz?full=1",
                false,
                List.of(
                        new Action.Header("Host", "shop.example"),
                        new Action.Header("X-Probe", "a"),
                        new Action.Header("X-Probe", "b"))));

        assertThat(result).isEqualTo(ProbeResult.success("shop.example [a, b] kube-probe/1.32 full=1"));
    }

    /** A server answers 100 first to a request with {@code Expect}, and goes on. */
    @Test
    void shouldSendHeadersThatAskForAnUpgradeOrForAnInterimAnswer() throws Exception {
        answer(
                "/",
                200,
                exchange -> exchange.getRequestHeaders().getFirst("Upgrade") + " "
                        + exchange.getRequestHeaders().getFirst("Expect"));

        ProbeResult result = run(new Action.Http(
                "",
                "web",
                "/",
                false,
                List.of(new Action.Header("Upgrade", "websocket"), new Action.Header("Expect", "100-continue"))));

        assertThat(result).isEqualTo(ProbeResult.success("websocket 100-continue"));
    }

    @Test
    void shouldFailOnAnErrorStatusAndOnAClosedPort() throws Exception {
        answer("/", 503, exchange -> "busy");

        assertThat(run(get("/")))
                .isEqualTo(
                        new ProbeResult(ProbeResult.Outcome.FAILURE, "HTTP probe failed with statuscode: 503", true));

        server.stop(0);
        ProbeResult refused = run(get("/"));
        assertThat(refused.outcome()).isEqualTo(ProbeResult.Outcome.FAILURE);
        assertThat(refused.output()).startsWith("Get \"http://127.0.0.1:");
        assertThat(run(new Action.Tcp("", "web")).output())
                .startsWith("dial tcp 127.0.0.1:")
                .contains("refused");
    }

    @Test
    void shouldFollowRedirectsOnTheSameHostOnly() throws Exception {
        answer("/done", 200, exchange -> "there");
        redirect("/here", "/done");
        redirect("/away", "http://other.example/done");
        redirect("/round", "/round");

        assertThat(run(get("/here"))).isEqualTo(ProbeResult.success("there"));
        assertThat(run(get("/away")).outcome()).isEqualTo(ProbeResult.Outcome.WARNING);
        assertThat(run(get("/round")).output()).endsWith("stopped after 10 redirects");
    }

    @Test
    void shouldGetAPageOverHttpsWhateverTheCertificateIs() throws Exception {
        Identity own = TestCertificates.make("CN=somebody-else", "dns:other.example");
        HttpsServer secure = HttpsServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        secure.setHttpsConfigurator(new HttpsConfigurator(TestCertificates.context(own)));
        secure.createContext("/", exchange -> {
            try (exchange) {
                byte[] body = exchange.getProtocol().getBytes(StandardCharsets.UTF_8);
                exchange.sendResponseHeaders(
                        exchange.getRequestURI().getPath().equals("/busy") ? 503 : 200, body.length);
                exchange.getResponseBody().write(body);
            }
        });
        secure.start();
        String port = String.valueOf(secure.getAddress().getPort());
        try {
            assertThat(run(new Action.Http("", port, "/", true, List.of()))).isEqualTo(ProbeResult.success("HTTP/1.1"));
            assertThat(run(new Action.Http("", port, "/busy", true, List.of())))
                    .isEqualTo(new ProbeResult(
                            ProbeResult.Outcome.FAILURE, "HTTP probe failed with statuscode: 503", true));
            // A server without TLS waits for the end of a line that does not come.
            assertThat(run(new Action.Http("", "web", "/", true, List.of()), Duration.ofSeconds(1))
                            .outcome())
                    .as("a server without TLS")
                    .isEqualTo(ProbeResult.Outcome.FAILURE);
        } finally {
            secure.stop(0);
        }
    }

    @Test
    void shouldAskAServerThatIsNamedByItsNameInTheRequestAndInTls() throws Exception {
        // given a server with TLS that remembers the name it is asked for
        List<String> names = new CopyOnWriteArrayList<>();
        HttpsServer secure = HttpsServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        secure.setHttpsConfigurator(
                new HttpsConfigurator(
                        TestCertificates.context(TestCertificates.make("CN=somebody-else", "dns:other.example"))) {
                    @Override
                    public void configure(HttpsParameters parameters) {
                        SSLParameters chosen = getSSLContext().getDefaultSSLParameters();
                        chosen.setSNIMatchers(List.of(new Remembering(names)));
                        parameters.setSSLParameters(chosen);
                    }
                });
        secure.createContext("/", exchange -> reply(exchange, 200, NodeProberTest::host));
        secure.start();
        answer("/", 200, NodeProberTest::host);
        redirect("/here", "/");
        String port = String.valueOf(server.getAddress().getPort());
        String securePort = String.valueOf(secure.getAddress().getPort());
        try {
            // when it is asked by its name, then the name arrives
            assertThat(run(new Action.Http("shop.example", port, "/here", false, List.of())))
                    .isEqualTo(ProbeResult.success("shop.example:" + port));
            assertThat(run(new Action.Http("shop.example", securePort, "/", true, List.of())))
                    .isEqualTo(ProbeResult.success("shop.example:" + securePort));
            assertThat(names).containsExactly("shop.example");
        } finally {
            secure.stop(0);
        }
    }

    @Test
    void shouldAskPodsByTheirAddressWhileTheServerOfNamesDoesNotAnswer() throws Exception {
        // given more lookups that hang than there are threads of any kind
        answer("/", 200, exchange -> "fine");
        for (int i = 0; i < 2 * HostNames.THREADS; i++) {
            Action.Http named = new Action.Http("hung.example", "web", "/", false, List.of());
            loop.execute(() -> prober.run(new Prober.Target("c1", container, "127.0.0.1"), named, TIMEOUT));
        }
        CompletableFuture<ProbeResult> late = new CompletableFuture<>();
        Action.Http named = new Action.Http("hung.example", "web", "/", false, List.of());
        loop.execute(() -> prober.run(new Prober.Target("c1", container, "127.0.0.1"), named, Duration.ofMillis(100))
                .thenAccept(late::complete));

        // when a pod is asked by its address, then it answers within its time
        assertThat(run(get("/"), Duration.ofSeconds(5))).isEqualTo(ProbeResult.success("fine"));
        // and the others fail when theirs is up
        assertThat(late.get(30, TimeUnit.SECONDS).output()).contains("context deadline exceeded");
    }

    @Test
    void shouldFailIfThereIsNoSuchHost() throws Exception {
        assertThat(run(new Action.Http("absent.example", "web", "/", false, List.of()))
                        .output())
                .endsWith("dial tcp: lookup absent.example: no such host");
        assertThat(run(new Action.Tcp("absent.example", "web")).output())
                .endsWith("lookup absent.example: no such host");
    }

    @Test
    void shouldReadTheBeginningOfALargePageOnly() throws Exception {
        answer("/", 200, exchange -> "x".repeat(1 << 20));

        ProbeResult result = run(get("/"));

        assertThat(result.outcome()).isEqualTo(ProbeResult.Outcome.SUCCESS);
        assertThat(result.output()).hasSize(HttpActions.MOST_BODY);
    }

    @Test
    void shouldFailOnceTheTimeIsUp() throws Exception {
        try (ServerSocket silent = new ServerSocket(0, 8, InetAddress.getLoopbackAddress())) {
            Action.Http get = new Action.Http("", String.valueOf(silent.getLocalPort()), "/", false, List.of());

            ProbeResult result = run(get, Duration.ofMillis(50));

            assertThat(result.outcome()).isEqualTo(ProbeResult.Outcome.FAILURE);
            assertThat(result.output()).contains("context deadline exceeded");
            assertThat(run(new Action.Tcp("", String.valueOf(silent.getLocalPort())))
                            .outcome())
                    .isEqualTo(ProbeResult.Outcome.SUCCESS);
            assertThat(run(new Action.Tcp("localhost", String.valueOf(silent.getLocalPort())))
                            .outcome())
                    .isEqualTo(ProbeResult.Outcome.SUCCESS);
            assertThat(run(new Action.Grpc(silent.getLocalPort(), ""), Duration.ofMillis(50)))
                    .isEqualTo(ProbeResult.failure("timeout: health rpc did not complete within 50ms"));
        }
    }

    @Test
    void shouldNameAPortThatTheContainerDoesNotHave() throws Exception {
        assertThat(run(new Action.Tcp("", "admin")))
                .isEqualTo(ProbeResult.error(
                        "port \"admin\" is neither a number from 1 to 65535 nor a port of container app"));
    }

    @Test
    void shouldNotAskAGrpcServerOfAPodWithoutAnAddressOrAtNoPort() throws Exception {
        CompletableFuture<ProbeResult> early = new CompletableFuture<>();
        loop.execute(() -> prober.run(new Prober.Target("c1", container, ""), new Action.Grpc(80, ""), TIMEOUT)
                .thenAccept(early::complete));

        assertThat(early.get(30, TimeUnit.SECONDS)).isEqualTo(ProbeResult.error("the pod has no address yet"));
        assertThat(run(new Action.Grpc(70_000, "")))
                .isEqualTo(ProbeResult.error(
                        "port \"70000\" is neither a number from 1 to 65535 nor a port of container app"));
    }

    @Test
    void shouldRunACommandInTheContainer() throws Exception {
        runtime.pod("u1");
        runtime.container("c1", "u1", "app", ContainerState.RUNNING);
        runtime.command("check fast", 0, "fine");
        runtime.command("check slow", 3, "broken");

        assertThat(run(new Action.Exec(List.of("check", "fast")))).isEqualTo(ProbeResult.success("fine"));
        assertThat(run(new Action.Exec(List.of("check", "slow"))))
                .isEqualTo(new ProbeResult(ProbeResult.Outcome.FAILURE, "broken", true));

        runtime.fail(
                "ExecSync",
                new RuntimeCallException(
                        "ExecSync", RuntimeCallException.Code.DEADLINE_EXCEEDED, "timeout 20s exceeded"));
        assertThat(run(new Action.Exec(List.of("check", "slow"))))
                .isEqualTo(ProbeResult.failure("command timed out: \"check slow\" timed out after 20s"));

        runtime.fail(
                "ExecSync",
                new RuntimeCallException("ExecSync", RuntimeCallException.Code.TOO_LARGE, "message exceeds 131072"));
        ProbeResult large = run(new Action.Exec(List.of("check", "slow")));
        assertThat(large.outcome()).isEqualTo(ProbeResult.Outcome.FAILURE);
        assertThat(large.output()).contains("the command wrote more than is read", "message exceeds 131072");

        runtime.fail(
                "ExecSync", new RuntimeCallException("ExecSync", RuntimeCallException.Code.UNAVAILABLE, "not there"));
        assertThat(run(new Action.Exec(List.of("check", "slow"))).outcome()).isEqualTo(ProbeResult.Outcome.ERROR);
    }

    private static Action.Http get(String path) {
        return new Action.Http("", "web", path, false, List.of());
    }

    private ProbeResult run(Action action) throws Exception {
        return run(action, TIMEOUT);
    }

    private ProbeResult run(Action action, Duration timeout) throws Exception {
        CompletableFuture<ProbeResult> result = new CompletableFuture<>();
        loop.execute(() -> prober.run(new Prober.Target("c1", container, "127.0.0.1"), action, timeout)
                .thenAccept(result::complete));
        return result.get(30, TimeUnit.SECONDS);
    }

    private InetAddress resolve(String name) throws UnknownHostException {
        switch (name) {
            case "hung.example" -> {
                try {
                    hung.await();
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                }
                throw new UnknownHostException(name);
            }
            case "absent.example" -> throw new UnknownHostException(name);
            default -> {
                return InetAddress.getLoopbackAddress();
            }
        }
    }

    /** Accepts any name of a server, and remembers it. */
    private static final class Remembering extends SNIMatcher {
        private final List<String> names;

        private Remembering(List<String> names) {
            super(StandardConstants.SNI_HOST_NAME);
            this.names = names;
        }

        @Override
        public boolean matches(SNIServerName name) {
            return names.add(new String(name.getEncoded(), StandardCharsets.US_ASCII));
        }
    }

    private static String host(HttpExchange exchange) {
        return exchange.getRequestHeaders().getFirst("Host");
    }

    private interface Answer {
        String to(HttpExchange exchange);
    }

    private void answer(String path, int status, Answer answer) {
        server.createContext(path, exchange -> reply(exchange, status, answer));
    }

    private static void reply(HttpExchange exchange, int status, Answer answer) throws IOException {
        try (exchange) {
            byte[] body = answer.to(exchange).getBytes(StandardCharsets.UTF_8);
            exchange.sendResponseHeaders(status, body.length);
            exchange.getResponseBody().write(body);
        }
    }

    private void redirect(String path, String to) {
        server.createContext(path, exchange -> {
            try (exchange) {
                exchange.getResponseHeaders().set("Location", to);
                exchange.sendResponseHeaders(302, -1);
            }
        });
    }
}
