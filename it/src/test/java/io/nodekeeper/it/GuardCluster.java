package io.nodekeeper.it;

import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.client.config.ClientTls;
import io.nodekeeper.client.config.Kubeconfig;
import io.nodekeeper.client.config.Pem;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.net.ssl.SSLContext;

/** A real API server behind a front that has webhook configurations, for guards that are started on it. */
final class GuardCluster implements AutoCloseable {
    private static final Pattern ADDRESS = Pattern.compile("serves admission reviews at \\S*:(\\d+)");

    private final Path directory;
    private final Running server;
    private final Path admin;
    private final WebhookFront front;
    private final Path kubeconfig;

    /** Starts the API server and applies the webhook configuration by the command. */
    GuardCluster(Path directory) throws Exception {
        this.directory = directory;
        Path data = directory.resolve("data");
        server = Running.startBig(
                directory, "apiserver", "apiserver", "--data-dir", data.toString(), "--secure-port", "0");
        server.awaitReady();
        admin = data.resolve("admin.kubeconfig");
        front = new WebhookFront(Kubeconfig.load(admin));
        kubeconfig = Files.writeString(directory.resolve("front.kubeconfig"), """
                apiVersion: v1
                kind: Config
                clusters: [{name: c, cluster: {server: "%s"}}]
                users: [{name: u, user: {}}]
                contexts: [{name: x, context: {cluster: c, user: u}}]
                current-context: x
                """.formatted(front.address()));
        String[] apply = {"guard", "apply", "--kubeconfig", kubeconfig.toString(), "--url", "https://127.0.0.1:9443"};
        try (Running applied = Running.start(directory, "apply", apply)) {
            int code = applied.awaitEnd(Duration.ofSeconds(120));
            if (code != 0) {
                throw new AssertionError("guard apply ended with " + code + ": " + applied.log());
            }
        }
    }

    /** The API server's process. */
    Running server() {
        return server;
    }

    /** The kubeconfig of an administrator, without the front. */
    Path admin() {
        return admin;
    }

    /** What keeps the webhook configuration. */
    WebhookFront front() {
        return front;
    }

    /** Starts a guard that enforces, and waits until the webhook configuration trusts it. */
    Running guard(Duration grace, String... flags) throws Exception {
        List<String> command = new ArrayList<>(List.of(
                "controller",
                "--kubeconfig",
                kubeconfig.toString(),
                "--mode=guard",
                "--guard-enforce",
                "--guard-bind-address=127.0.0.1:0",
                "--controller-bind-address=off",
                "--node-monitor-grace-period=" + grace.toSeconds() + "s"));
        command.addAll(List.of(flags));
        Running guard = Running.startBig(directory, "guard", command.toArray(String[]::new));
        Eventually.within(
                Duration.ofSeconds(60), () -> Json.write(front.webhook()).contains("caBundle"));
        return guard;
    }

    /** The port of this machine on which {@code guard} serves reviews. */
    static int port(Running guard) throws IOException {
        Matcher line = ADDRESS.matcher(guard.log());
        if (!line.find()) {
            throw new AssertionError("expected \"" + ADDRESS + "\" in: " + guard.log());
        }
        return Integer.parseInt(line.group(1));
    }

    /** Trusts what the webhook configuration trusts, as an API server does. */
    SSLContext tls() throws IOException {
        JsonObject webhook =
                front.webhook().array("webhooks").objects().findFirst().orElseThrow();
        String bundle = webhook.object("clientConfig").text("caBundle");
        return ClientTls.context(
                Optional.empty(),
                Pem.certificates(new String(Base64.getDecoder().decode(bundle), StandardCharsets.US_ASCII)));
    }

    /**
     * The review of a write by which {@code user} makes the node's Ready Unknown.
     *
     * @param status further fields of the node's status, JSON with a comma at the end; may be empty
     */
    static String review(String name, String user, String status) {
        return """
                {"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","request":{"uid":"u-1",
                "resource":{"group":"","version":"v1","resource":"nodes"},"subResource":"status","name":"%1$s",
                "operation":"UPDATE","userInfo":{"username":"%2$s"},"dryRun":false,
                "object":{"metadata":{"name":"%1$s"},"status":{%3$s"conditions":[{"type":"Ready","status":"Unknown"}]}},
                "oldObject":{"metadata":{"name":"%1$s"},"status":{%3$s"conditions":[{"type":"Ready","status":"True"}]}}}}
                """.formatted(name, user, status);
    }

    @Override
    public void close() {
        front.close();
        server.close();
    }
}
