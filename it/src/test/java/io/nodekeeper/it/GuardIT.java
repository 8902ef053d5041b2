package io.nodekeeper.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonObject;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import javax.net.ssl.SSLHandshakeException;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The guard as a process: the API server is real but has no webhooks, so the test sends the AdmissionReviews as an API
 * server would, and trusts what the guard has published.
 */
@Tag("long")
class GuardIT {
    private static final Duration GRACE = Duration.ofSeconds(8);
    /** A review that cannot be made in time lets the write pass, so that one answer of a busy machine says nothing. */
    private static final Duration SOON = Duration.ofSeconds(30);

    private static final String LEASE = "--node-lease-duration-seconds=4";

    @TempDir
    Path directory;

    private static boolean allowed(HttpClient client, URI uri, String node, String user) throws Exception {
        HttpRequest request = HttpRequest.newBuilder(uri)
                .timeout(SOON)
                .POST(HttpRequest.BodyPublishers.ofString(GuardCluster.review(node, user, "")))
                .build();
        HttpResponse<byte[]> answer = client.send(request, HttpResponse.BodyHandlers.ofByteArray());
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
        String writer = "system:kube-controller-manager";
        try (GuardCluster cluster = new GuardCluster(directory);
                Running living = Running.hollowSmall(directory, cluster.admin(), "living-", 3, LEASE);
                Running dying = Running.hollowSmall(directory, cluster.admin(), "dying-", 1, LEASE)) {
            living.awaitReady();
            dying.awaitReady();
            WebhookFront front = cluster.front();
            try (Running guard = cluster.guard(GRACE);
                    HttpClient client =
                            HttpClient.newBuilder().sslContext(cluster.tls()).build()) {
                URI uri = URI.create("https://127.0.0.1:" + GuardCluster.port(guard) + "/validate?timeout=1s");
                // when the node controller blames a node that renews its lease, then it is refused
                Eventually.within(SOON, () -> refused(client, uri, "living-0", writer));
                Eventually.within(SOON, () -> refused(client, uri, "dying-0", writer));
                // and other users' writes pass
                assertThat(allowed(client, uri, "living-0", "kubernetes-admin")).isTrue();
                // when a node dies, then it may be blamed after its grace
                dying.kill();
                Thread.sleep(GRACE.plusSeconds(1).toMillis());
                Eventually.within(SOON, () -> allowed(client, uri, "dying-0", writer));
                Eventually.within(SOON, () -> refused(client, uri, "living-0", writer));
                // when it is switched off, then every write passes
                front.store(front.webhook()
                        .update(
                                "metadata",
                                metadata -> metadata.with(
                                        "annotations", JsonObject.EMPTY.with("nodekeeper.io/guard", "off"))));
                Eventually.within(SOON, () -> allowed(client, uri, "living-0", writer));
                assertThat(guard.log()).contains("Refused: " + writer + " changes Ready from True to Unknown");
            }
        }
    }
}
