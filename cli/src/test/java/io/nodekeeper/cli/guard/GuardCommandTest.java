package io.nodekeeper.cli.guard;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.api.yaml.Yaml;
import io.nodekeeper.cli.command.CommandRunner;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code guard apply}, {@code remove} and {@code print}, against a server that stores one webhook configuration. */
class GuardCommandTest {
    private static final String PATH = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations";

    @TempDir
    Path directory;

    private final List<String> calls = new ArrayList<>();
    private Optional<JsonObject> stored = Optional.empty();
    private HttpServer server;
    private Path kubeconfig;
    private StringWriter out = new StringWriter();
    private StringWriter err = new StringWriter();

    @BeforeEach
    void start() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/", exchange -> {
            calls.add(exchange.getRequestMethod() + " " + exchange.getRequestURI());
            byte[] body = exchange.getRequestBody().readAllBytes();
            int status = 200;
            JsonObject answer;
            if (List.of("POST", "PUT").contains(exchange.getRequestMethod())) {
                stored = Optional.of(Json.parseObject(body));
            }
            answer = stored.orElse(
                    JsonObject.builder().put("kind", "Status").put("code", 404).build());
            if (stored.isEmpty()) {
                status = 404;
            }
            if (exchange.getRequestMethod().equals("DELETE")) {
                stored = Optional.empty();
            }
            byte[] bytes = Json.writeBytes(answer);
            exchange.sendResponseHeaders(status, bytes.length);
            exchange.getResponseBody().write(bytes);
            exchange.close();
        });
        server.start();
        kubeconfig = Files.writeString(directory.resolve("kubeconfig"), """
                apiVersion: v1
                kind: Config
                clusters: [{name: c, cluster: {server: "http://127.0.0.1:%d"}}]
                users: [{name: u, user: {}}]
                contexts: [{name: x, context: {cluster: c, user: u}}]
                current-context: x
                """.formatted(
                        server.getAddress().getPort()));
    }

    @AfterEach
    void stop() {
        server.stop(0);
    }

    private int run(String... arguments) {
        out = new StringWriter();
        err = new StringWriter();
        return new CommandRunner(
                        List.of(new GuardCommand(new PrintWriter(out))), new PrintWriter(out), new PrintWriter(err))
                .run(Stream.concat(Stream.of("guard"), Stream.of(arguments)).toArray(String[]::new));
    }

    @Test
    void applyCreatesThenUpdatesAndRemoveDeletes() {
        String file = kubeconfig.toString();
        assertThat(run("apply", "--kubeconfig", file)).as(err.toString()).isZero();
        assertThat(out.toString())
                .isEqualTo("created validatingwebhookconfigurations.admissionregistration.k8s.io nodekeeper-guard\n");
        assertThat(run("apply", "--kubeconfig", file, "--url", "https://10.0.0.7:9443"))
                .isZero();
        assertThat(out.toString()).startsWith("updated ");
        assertThat(Json.write(stored.orElseThrow())).contains("\"url\":\"https://10.0.0.7:9443/validate\"");
        assertThat(run("remove", "--kubeconfig", file)).isZero();
        assertThat(out.toString()).startsWith("deleted ");
        assertThat(run("remove", "--kubeconfig", file)).isZero();
        assertThat(out.toString()).startsWith("there is no ");
        assertThat(calls)
                .containsExactly(
                        "GET " + PATH + "/nodekeeper-guard",
                        "POST " + PATH,
                        "GET " + PATH + "/nodekeeper-guard",
                        "PUT " + PATH + "/nodekeeper-guard",
                        "DELETE " + PATH + "/nodekeeper-guard",
                        "DELETE " + PATH + "/nodekeeper-guard");
    }

    @Test
    void printNeedsNoClusterAndPrintsWhatKubectlApplies() {
        assertThat(run(
                        "print",
                        "--service",
                        "health/guard:8443",
                        "--guard-users",
                        "own-ccm",
                        "--match-conditions=false"))
                .isZero();
        List<JsonObject> objects = Stream.of(out.toString().split("---\n"))
                .filter(text -> !text.isBlank())
                .map(text -> Yaml.parse(text.getBytes(StandardCharsets.UTF_8), repeated -> {}))
                .toList();
        assertThat(objects)
                .extracting(object -> object.text("kind"))
                .containsExactly("ClusterRole", "ClusterRoleBinding", "ValidatingWebhookConfiguration");
        assertThat(Json.write(objects.get(1))).contains("\"namespace\":\"health\"");
        assertThat(Json.write(objects.getLast()))
                .contains("\"service\":{", "\"port\":8443")
                .doesNotContain("matchConditions");
    }

    @Test
    void whatItCannotUseIsRefused() {
        assertThat(run("apply", "--kubeconfig", kubeconfig.toString(), "--url", "http://10.0.0.7/x"))
                .isEqualTo(2);
        assertThat(err.toString()).contains("--url is http://10.0.0.7/x; expected a form like https://10.0.0.7:9443");
        assertThat(calls).isEmpty();
    }
}
