package io.nodekeeper.cli.pages;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.nodekeeper.api.ResourceType;
import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.api.yaml.Yaml;
import io.nodekeeper.cli.apiserver.ApiServerOptions;
import io.nodekeeper.cli.apiserver.ServerProcess;
import io.nodekeeper.cli.certs.Issuer;
import io.nodekeeper.cli.command.CommandRunner;
import io.nodekeeper.cli.status.StatusCommand;
import io.nodekeeper.cli.status.StatusProcess;
import io.nodekeeper.client.HttpTransport;
import io.nodekeeper.client.KubeClient;
import io.nodekeeper.client.access.PageRight;
import io.nodekeeper.client.config.ClientTls;
import io.nodekeeper.client.config.Identity;
import io.nodekeeper.client.config.IdentityFiles;
import io.nodekeeper.client.config.Kubeconfig;
import io.nodekeeper.client.config.Pem;
import io.nodekeeper.client.config.ServerAccess;
import io.nodekeeper.client.pages.Feed;
import io.nodekeeper.client.pages.Page;
import io.nodekeeper.client.pages.Pages;
import io.nodekeeper.time.Randoms;
import io.nodekeeper.time.ThreadLoop;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/**
 * Pages that other machines may read, with a real API server that decides who may: the users alice and bob have tokens,
 * and the role of the manifest is bound to alice and to the group page-readers.
 */
@Timeout(120)
class ExposureTest {
    private static final InetSocketAddress LOOPBACK = new InetSocketAddress(InetAddress.ofLiteral("127.0.0.1"), 0);
    private static final ResourceType ROLES =
            new ResourceType("rbac.authorization.k8s.io", "v1", "clusterroles", "ClusterRole", false);
    private static final ResourceType BINDINGS =
            new ResourceType("rbac.authorization.k8s.io", "v1", "clusterrolebindings", "ClusterRoleBinding", false);

    @TempDir
    private static Path directory;

    private static final ThreadLoop LOOP = new ThreadLoop("test");
    private static Optional<ServerProcess> cluster = Optional.empty();
    private static Optional<ServerAccess> controller = Optional.empty();

    @BeforeAll
    static void start() throws Exception {
        Path tokens = Files.writeString(directory.resolve("tokens"), "token-of-alice,alice,1\ntoken-of-bob,bob,2\n");
        ApiServerOptions options = CommandLine.populateCommand(
                new ApiServerOptions(),
                "--data-dir=" + directory.resolve("data"),
                "--bind-address=127.0.0.1",
                "--secure-port=0",
                "--token-auth-file=" + tokens);
        ServerProcess server = ServerProcess.start(options);
        cluster = Optional.of(server);
        controller = Optional.of(Kubeconfig.load(server.controllerKubeconfig()));
        HttpTransport transport = new HttpTransport(Kubeconfig.load(server.adminKubeconfig()));
        try {
            KubeClient admin = new KubeClient(transport, LOOP, Duration.ofSeconds(30));
            byte[] role = Files.readAllBytes(Path.of("..", "deploy", "pages", "reader.yaml"));
            admin.create(ROLES, "", Yaml.parse(role, fault -> {})).join();
            admin.create(BINDINGS, "", Json.parseObject("""
                    {"metadata":{"name":"readers"},"roleRef":{"apiGroup":"rbac.authorization.k8s.io",
                     "kind":"ClusterRole","name":"nodekeeper-pages-reader"},
                     "subjects":[{"apiGroup":"rbac.authorization.k8s.io","kind":"User","name":"alice"},
                                 {"apiGroup":"rbac.authorization.k8s.io","kind":"Group","name":"page-readers"}]}""")).join();
        } finally {
            transport.close();
        }
    }

    @AfterAll
    static void stop() {
        cluster.ifPresent(ServerProcess::stop);
        LOOP.close();
    }

    private static Path pki(String file) {
        return directory.resolve("data").resolve("pki").resolve(file);
    }

    /** A server of exposed pages; the pages say their path. */
    private static final class Exposed implements AutoCloseable {
        private final Exposure exposure;
        private final PagesServer server;
        /** How often the stream was opened. */
        private final AtomicInteger opened = new AtomicInteger();

        Exposed(ServerAccess access, String... flags) throws IOException {
            PagesOptions options = CommandLine.populateCommand(new PagesOptions(), flags);
            // As an agent's.
            exposure = options.exposure(
                            LOOPBACK,
                            access,
                            path -> path.equals("/stats/summary")
                                    ? new PageRight.NodePart("n1", "stats")
                                    : new PageRight.Path(path))
                    .orElseThrow();
            server = PagesServer.start(
                    LOOPBACK,
                    new Pages() {
                        @Override
                        public CompletableFuture<Page> get(String path, String query) {
                            return CompletableFuture.completedFuture(
                                    switch (path) {
                                        case "/debug/status" -> Page.json(JsonObject.EMPTY.with("nodes", "many"));
                                        // A controller that guards nothing.
                                        case "/debug/guard" -> Page.text(404, "not found");
                                        default -> Page.text(200, "page " + path);
                                    });
                        }

                        @Override
                        public Optional<Feed> feed(String path) {
                            return path.equals("/ui/api/events")
                                    ? Optional.of(reader -> {
                                        opened.incrementAndGet();
                                        return CompletableFuture.completedFuture(false);
                                    })
                                    : Optional.empty();
                        }
                    },
                    Optional.of(exposure));
        }

        URI url(String path) {
            return URI.create("https://127.0.0.1:" + server.address().getPort() + path);
        }

        @Override
        public void close() {
            server.close();
            exposure.close();
        }
    }

    private static HttpClient client(Optional<Identity> identity) {
        return HttpClient.newBuilder()
                .sslContext(ClientTls.context(new ServerAccess(
                        URI.create("https://127.0.0.1"), List.of(), true, "", identity, "", Optional.empty())))
                .build();
    }

    private static HttpResponse<String> get(HttpClient client, URI url, String token) throws Exception {
        HttpRequest.Builder request = HttpRequest.newBuilder(url).timeout(Duration.ofSeconds(60));
        if (!token.isEmpty()) {
            request.header("Authorization", "Bearer " + token);
        }
        return client.send(request.build(), HttpResponse.BodyHandlers.ofString());
    }

    @Test
    void streamOpensOnlyForReadersWhomTheClusterLetsIn() throws Exception {
        try (Exposed pages = new Exposed(controller.orElseThrow(), "--client-ca-file=" + pki("ca.crt"));
                HttpClient client = client(Optional.empty())) {
            URI events = pages.url("/ui/api/events");
            assertThat(get(client, events, "").statusCode()).isEqualTo(401);
            assertThat(get(client, events, "token-of-bob").statusCode()).isEqualTo(403);
            assertThat(pages.opened).hasValue(0);

            // Its test stream has no room.
            assertThat(get(client, events, "token-of-alice").statusCode()).isEqualTo(503);
            assertThat(pages.opened).hasValue(1);
        }
    }

    @Test
    void theClusterDecidesWhoReadsAPage() throws Exception {
        try (Exposed pages = new Exposed(controller.orElseThrow(), "--client-ca-file=" + pki("ca.crt"));
                HttpClient client = client(Optional.empty())) {
            // Health is for everybody.
            assertThat(get(client, pages.url("/healthz?verbose"), "").statusCode())
                    .isEqualTo(200);
            assertThat(get(client, pages.url("/healthz/loop"), "").statusCode()).isEqualTo(401);
            // Nothing else is, on the same connection.
            HttpResponse<String> anonymous = get(client, pages.url("/metrics"), "");
            assertThat(anonymous.statusCode()).isEqualTo(401);
            assertThat(anonymous.headers().firstValue("Content-Type")).contains("application/json");
            assertThat(status(anonymous).text("reason")).isEqualTo("Unauthorized");
            assertThat(get(client, pages.url("/metrics"), "token-of-eve").statusCode())
                    .isEqualTo(401);
            HttpResponse<String> bob = get(client, pages.url("/metrics"), "token-of-bob");
            assertThat(bob.statusCode()).isEqualTo(403);
            assertThat(status(bob).text("message")).isEqualTo("User \"bob\" cannot get path \"/metrics\"");
            for (String path : List.of("/", "/metrics", "/debug/nodes/n1?at=1m", "/ui/", "/healthz/loop")) {
                HttpResponse<String> alice = get(client, pages.url(path), "token-of-alice");
                assertThat(alice.statusCode()).as(path + alice.body()).isEqualTo(200);
            }
            assertThat(get(client, pages.url("/elsewhere"), "token-of-alice").statusCode())
                    .isEqualTo(403);
        }
    }

    @Test
    void statisticsNeedTheRightThatAKubeletRequires() throws Exception {
        try (Exposed pages = new Exposed(controller.orElseThrow(), "--client-ca-file=" + pki("ca.crt"));
                HttpClient client = client(Optional.empty())) {
            URI summary = pages.url("/stats/summary?only_cpu_and_memory=true");
            assertThat(get(client, summary, "").statusCode()).isEqualTo(401);
            assertThat(status(get(client, summary, "token-of-bob")).text("message"))
                    .isEqualTo("User \"bob\" cannot get resource \"nodes/stats\" of node \"n1\"");
            assertThat(get(client, summary, "token-of-alice").statusCode()).isEqualTo(200);
        }
    }

    @Test
    void aClientCertificateIsItsUser() throws Exception {
        Issuer issuer = new Issuer(new IdentityFiles(pki("ca.crt"), pki("ca.key")).read(), Randoms.secure());
        Identity reader = issuer.client("carol", List.of("page-readers"), Instant.now());
        Identity other = issuer.client("dave", List.of(), Instant.now());
        try (Exposed pages = new Exposed(controller.orElseThrow(), "--client-ca-file=" + pki("ca.crt"));
                HttpClient carol = client(Optional.of(reader));
                HttpClient dave = client(Optional.of(other))) {
            assertThat(get(carol, pages.url("/metrics"), "").statusCode()).isEqualTo(200);
            assertThat(get(dave, pages.url("/metrics"), "").statusCode()).isEqualTo(403);
            // A certificate counts, not a token beside it.
            assertThat(get(dave, pages.url("/metrics"), "token-of-alice").statusCode())
                    .isEqualTo(403);
        }
    }

    @Test
    void aClientCertificateThatEndsIsNobodyOnAnOpenConnection() throws Exception {
        // given a certificate that ends in twelve seconds
        Issuer issuer = new Issuer(new IdentityFiles(pki("ca.crt"), pki("ca.key")).read(), Randoms.secure());
        Identity reader = issuer.client(
                "carol",
                List.of("page-readers"),
                Instant.now().minus(Duration.ofDays(365)).plusSeconds(12));
        Instant end = reader.certificate().getNotAfter().toInstant();
        try (Exposed pages = new Exposed(controller.orElseThrow(), "--client-ca-file=" + pki("ca.crt"));
                HttpClient carol = client(Optional.of(reader))) {
            // when its owner keeps a connection busy until then
            do {
                assertThat(get(carol, pages.url("/metrics"), "").statusCode()).isEqualTo(200);
                Thread.sleep(Duration.ofSeconds(2));
            } while (Instant.now().plusSeconds(4).isBefore(end));
            Thread.sleep(Duration.between(Instant.now(), end.plusSeconds(1)));

            // then the next request has no user
            int code;
            try {
                code = get(carol, pages.url("/metrics"), "").statusCode();
            } catch (IOException e) {
                // The client made a new connection, whose handshake failed.
                code = 401;
            }
            assertThat(code).isEqualTo(401);
        }
    }

    @Test
    void withoutTheClusterOnlyHealthIsServed() throws Exception {
        ServerAccess nowhere = new ServerAccess(
                URI.create("http://127.0.0.1:1"), List.of(), false, "", Optional.empty(), "", Optional.empty());
        try (Exposed pages = new Exposed(nowhere, "--client-ca-file=" + pki("ca.crt"));
                HttpClient client = client(Optional.empty())) {
            assertThat(get(client, pages.url("/healthz"), "").statusCode()).isEqualTo(200);
            HttpResponse<String> alice = get(client, pages.url("/metrics"), "token-of-alice");
            assertThat(alice.statusCode()).isEqualTo(401);
            assertThat(status(alice).text("message")).contains("could not be reviewed");
        }
    }

    @Test
    void theGivenCertificateIsShown() throws Exception {
        try (Exposed pages = new Exposed(
                        controller.orElseThrow(),
                        "--tls-cert-file=" + pki("apiserver.crt"),
                        "--tls-private-key-file=" + pki("apiserver.key"),
                        "--authorization-always-allow-paths=/debug/*");
                HttpClient client = HttpClient.newBuilder()
                        .sslContext(ClientTls.context(
                                Optional.empty(), IdentityFiles.authorities("--client-ca-file", pki("ca.crt"))))
                        .build()) {
            assertThat(get(client, pages.url("/debug/nodes"), "").body()).isEqualTo("page /debug/nodes\n");
            assertThat(get(client, pages.url("/metrics"), "").statusCode()).isEqualTo(401);
        }
    }

    /** The exit code of {@code nodekeeper status} with these flags, and what it prints. */
    private static String statusCommand(Exposed pages, String... flags) {
        StringWriter out = new StringWriter();
        PrintWriter writer = new PrintWriter(out);
        List<String> line = new ArrayList<>(List.of("status", "-o", "json", "--server=" + pages.url("")));
        line.addAll(List.of(flags));
        int code = new CommandRunner(
                        List.of(new StatusCommand(command -> StatusProcess.run(command, writer, writer))),
                        writer,
                        writer)
                .run(line.toArray(String[]::new));
        return code + " " + out;
    }

    @Test
    void statusShowsTheCredentialsOfItsFlagsAndSaysWhatIsMissing() throws Exception {
        Issuer issuer = new Issuer(new IdentityFiles(pki("ca.crt"), pki("ca.key")).read(), Randoms.secure());
        Identity reader = issuer.client("carol", List.of("page-readers"), Instant.now());
        Path certificate = Files.writeString(directory.resolve("carol.crt"), Pem.encode(reader.certificate()));
        Path key = Files.writeString(directory.resolve("carol.key"), Pem.encode(reader.key()));
        Path alice = Files.writeString(directory.resolve("alice.token"), "token-of-alice\n");
        Path bob = Files.writeString(directory.resolve("bob.token"), "token-of-bob\n");
        String authority = "--certificate-authority=" + pki("ca.crt");
        try (Exposed pages = new Exposed(
                controller.orElseThrow(),
                "--client-ca-file=" + pki("ca.crt"),
                "--tls-cert-file=" + pki("apiserver.crt"),
                "--tls-private-key-file=" + pki("apiserver.key"))) {
            assertThat(statusCommand(pages, authority, "--token-file=" + alice)).startsWith("0 {");
            assertThat(statusCommand(pages, "--insecure-skip-tls-verify", "--token=token-of-alice"))
                    .startsWith("0 {");
            assertThat(statusCommand(pages, authority, "--client-certificate=" + certificate, "--client-key=" + key))
                    .startsWith("0 {");

            assertThat(statusCommand(pages, authority))
                    .startsWith("1 error: the controller at " + pages.url("") + " answers 401: ")
                    .contains("; expected credentials of a user with the ClusterRole nodekeeper-pages-reader (kubectl"
                            + " apply -k deploy/pages): --token-file FILE, or --client-certificate and --client-key");
            assertThat(statusCommand(pages, authority, "--token-file=" + bob))
                    .contains("answers 403: User \"bob\" cannot get path \"/debug/status\"; bind the ClusterRole"
                            + " nodekeeper-pages-reader (kubectl apply -k deploy/pages) to that user: kubectl create"
                            + " clusterrolebinding NAME --clusterrole=nodekeeper-pages-reader --user=USER")
                    .doesNotContain("token-of");
            assertThat(statusCommand(pages, "--token-file=" + alice))
                    .contains(" cannot be reached: ")
                    .contains("; --certificate-authority FILE names the authority of its certificate")
                    .doesNotContain("token-of");
        }
    }

    @Test
    void plainHttpIsNotAnswered() throws Exception {
        try (Exposed pages = new Exposed(controller.orElseThrow(), "--client-ca-file=" + pki("ca.crt"));
                HttpClient client = HttpClient.newHttpClient()) {
            URI plain = URI.create(pages.url("/healthz").toString().replace("https:", "http:"));

            assertThatThrownBy(() -> get(client, plain, "")).isInstanceOf(IOException.class);
        }
    }

    @Test
    void onlyTheLoopbackAddressIsServedWithoutTls() throws IOException {
        PagesOptions options = new PagesOptions();
        InetSocketAddress all = new InetSocketAddress(InetAddress.ofLiteral("0.0.0.0"), 0);

        assertThat(options.exposure(LOOPBACK, controller.orElseThrow())).isEmpty();
        options.exposure(all, controller.orElseThrow()).orElseThrow().close();
    }

    private static JsonObject status(HttpResponse<String> answer) {
        return Json.parseObject(answer.body().getBytes(StandardCharsets.UTF_8));
    }
}
