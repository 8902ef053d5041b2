package io.nodekeeper.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.client.config.ClientTls;
import io.nodekeeper.client.config.Kubeconfig;
import io.nodekeeper.client.config.Pem;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.net.ssl.SSLHandshakeException;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The guard as a process: the API server is real but has no webhooks, so the test sends the AdmissionReviews as an API
 * server would, and trusts what the guard has published. {@code -Dguard.load=true} also measures reviews at a fixed rate.
 */
@Tag("long")
class GuardIT {
    private static final Duration GRACE = Duration.ofSeconds(8);
    private static final String LEASE = "--node-lease-duration-seconds=4";
    private static final Pattern ADDRESS = Pattern.compile("serves admission reviews at \\S*:(\\d+)");
    private static final int PER_SECOND = 1_000;
    private static final int SECONDS = 10;
    /** As many connections as the test uses. A review that waits for one is late, and its wait counts. */
    private static final int CONNECTIONS = 32;

    @TempDir
    Path directory;

    private static String review(String node, String user) {
        return """
                {"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","request":{"uid":"u-1",
                "resource":{"group":"","version":"v1","resource":"nodes"},"subResource":"status","name":"%1$s",
                "operation":"UPDATE","userInfo":{"username":"%2$s"},"dryRun":false,
                "object":{"metadata":{"name":"%1$s"},"status":{"conditions":[{"type":"Ready","status":"Unknown"}]}},
                "oldObject":{"metadata":{"name":"%1$s"},"status":{"conditions":[{"type":"Ready","status":"True"}]}}}}
                """.formatted(node, user);
    }

    private static HttpClient trusting(JsonObject webhook) throws Exception {
        String bundle = webhook.array("webhooks")
                .objects()
                .findFirst()
                .orElseThrow()
                .object("clientConfig")
                .text("caBundle");
        return HttpClient.newBuilder()
                .sslContext(ClientTls.context(
                        Optional.empty(),
                        Pem.certificates(new String(Base64.getDecoder().decode(bundle), StandardCharsets.US_ASCII))))
                .build();
    }

    private static URI endpoint(Running guard) throws IOException {
        Matcher line = ADDRESS.matcher(guard.log());
        assertThat(line.find()).as(guard.log()).isTrue();
        return URI.create("https://127.0.0.1:" + line.group(1) + "/validate?timeout=1s");
    }

    private static HttpRequest request(URI uri, String review) {
        return HttpRequest.newBuilder(uri)
                .timeout(Duration.ofSeconds(5))
                .POST(HttpRequest.BodyPublishers.ofString(review))
                .build();
    }

    private static boolean allowed(HttpClient client, URI uri, String node, String user) throws Exception {
        HttpResponse<byte[]> answer =
                client.send(request(uri, review(node, user)), HttpResponse.BodyHandlers.ofByteArray());
        assertThat(answer.statusCode()).isEqualTo(200);
        return Json.parseObject(answer.body()).object("response").bool("allowed");
    }

    /** Whether the write is refused. The guard has no certificate until its first update of the webhook is acknowledged. */
    private static boolean refused(HttpClient client, URI uri, String node, String user) throws Exception {
        try {
            return !allowed(client, uri, node, user);
        } catch (SSLHandshakeException e) {
            return false;
        }
    }

    @Test
    void nodesWithAFreshLeaseAreProtectedUntilTheyFallSilentOrTheGuardIsSwitchedOff() throws Exception {
        // given nodes, a webhook configuration applied by the command, and a guard that enforces
        Path data = directory.resolve("data");
        String writer = "system:kube-controller-manager";
        try (Running server = Running.startBig(
                directory, "apiserver", "apiserver", "--data-dir", data.toString(), "--secure-port", "0")) {
            server.awaitReady();
            Path admin = data.resolve("admin.kubeconfig");
            try (WebhookFront front = new WebhookFront(Kubeconfig.load(admin));
                    Running living = Running.hollowSmall(directory, admin, "living-", 3, LEASE);
                    Running dying = Running.hollowSmall(directory, admin, "dying-", 1, LEASE)) {
                living.awaitReady();
                dying.awaitReady();
                Path kubeconfig =
                        Files.writeString(directory.resolve("front.kubeconfig"), """
                        apiVersion: v1
                        kind: Config
                        clusters: [{name: c, cluster: {server: "%s"}}]
                        users: [{name: u, user: {}}]
                        contexts: [{name: x, context: {cluster: c, user: u}}]
                        current-context: x
                        """.formatted(front.address()));
                try (Running apply = Running.start(
                        directory,
                        "apply",
                        "guard",
                        "apply",
                        "--kubeconfig",
                        kubeconfig.toString(),
                        "--url",
                        "https://127.0.0.1:9443")) {
                    assertThat(apply.awaitEnd()).as(apply.log()).isZero();
                }
                try (Running guard = Running.startBig(
                        directory,
                        "guard",
                        "controller",
                        "--kubeconfig",
                        kubeconfig.toString(),
                        "--mode=guard",
                        "--guard-enforce",
                        "--guard-bind-address=127.0.0.1:0",
                        "--controller-bind-address=off",
                        "--node-monitor-grace-period=" + GRACE.toSeconds() + "s")) {
                    Eventually.within(
                            Duration.ofSeconds(60),
                            () -> Json.write(front.webhook()).contains("caBundle"));
                    URI uri = endpoint(guard);
                    try (HttpClient client = trusting(front.webhook())) {
                        // when the node controller blames a node that renews its lease, then it is refused
                        Eventually.within(Duration.ofSeconds(30), () -> refused(client, uri, "living-0", writer));
                        assertThat(allowed(client, uri, "dying-0", writer)).isFalse();
                        // and other users' writes pass
                        assertThat(allowed(client, uri, "living-0", "kubernetes-admin"))
                                .isTrue();
                        // when a node dies, then it may be blamed after its grace
                        dying.kill();
                        Thread.sleep(GRACE.plusSeconds(1).toMillis());
                        assertThat(allowed(client, uri, "dying-0", writer)).isTrue();
                        assertThat(allowed(client, uri, "living-0", writer)).isFalse();
                        if (Boolean.getBoolean("guard.load")) {
                            load(client, uri, writer);
                        }
                        // when it is switched off, then every write passes
                        front.store(front.webhook()
                                .update(
                                        "metadata",
                                        metadata -> metadata.with(
                                                "annotations", JsonObject.EMPTY.with("nodekeeper.io/guard", "off"))));
                        Eventually.within(Duration.ofSeconds(30), () -> allowed(client, uri, "living-0", writer));
                        assertThat(guard.log()).contains("Refused: " + writer + " changes Ready from True to Unknown");
                    }
                }
            }
        }
    }

    /** Sends reviews at a fixed rate, and prints how long they took from the time at which each was due. */
    private static void load(HttpClient client, URI uri, String writer) throws Exception {
        ConcurrentLinkedQueue<Long> took = new ConcurrentLinkedQueue<>();
        ConcurrentLinkedQueue<Boolean> refused = new ConcurrentLinkedQueue<>();
        Semaphore free = new Semaphore(CONNECTIONS);
        // Rounds of a growing rate warm both processes up; the last one is measured.
        for (int rate : List.of(PER_SECOND / 10, PER_SECOND / 3, PER_SECOND)) {
            took.clear();
            refused.clear();
            List<CompletableFuture<?>> all = new ArrayList<>();
            long start = System.nanoTime();
            for (int i = 0; i < rate * SECONDS; i++) {
                long due = start + i * 1_000_000_000L / rate;
                while (System.nanoTime() < due) {
                    LockSupport.parkNanos(due - System.nanoTime());
                }
                free.acquire();
                all.add(client.sendAsync(
                                request(uri, review("living-" + i % 3, writer)),
                                HttpResponse.BodyHandlers.ofByteArray())
                        .whenComplete((answer, error) -> free.release())
                        .thenAccept(answer -> {
                            took.add(System.nanoTime() - due);
                            refused.add(!Json.parseObject(answer.body())
                                    .object("response")
                                    .bool("allowed"));
                        }));
            }
            CompletableFuture.allOf(all.toArray(CompletableFuture[]::new)).get();
        }
        List<Long> sorted = took.stream().sorted().toList();
        System.out.printf(
                "guard: %d reviews at %d/s, %d refused; [ms] p50 %.2f, p99 %.2f, max %.2f%n",
                sorted.size(),
                PER_SECOND,
                refused.stream().filter(is -> is).count(),
                sorted.get(sorted.size() / 2) / 1e6,
                sorted.get(sorted.size() * 99 / 100) / 1e6,
                sorted.getLast() / 1e6);
        assertThat(sorted).hasSize(PER_SECOND * SECONDS);
        assertThat(refused).contains(true);
    }
}
