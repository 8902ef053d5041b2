package io.nodekeeper.cli.source;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.cli.options.ClientOptions;
import io.nodekeeper.cli.pages.InstancePages;
import io.nodekeeper.cli.pages.PagesServer;
import io.nodekeeper.client.pages.Page;
import io.nodekeeper.client.pages.Pages;
import io.nodekeeper.controller.debug.DebugAddress;
import io.nodekeeper.time.Randoms;
import io.nodekeeper.time.ThreadLoop;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Which answer counts, and what is said about servers that cannot be reached: nothing listens at port 1. */
class ControllerPagesTest {
    @TempDir
    Path directory;

    private final ThreadLoop loop = new ThreadLoop("test");
    private final SourceOptions options = new SourceOptions();
    private Path kubeconfig = Path.of("none");

    @BeforeEach
    void given() throws IOException {
        cluster("http://127.0.0.1:1");
    }

    private void cluster(String server) throws IOException {
        kubeconfig = Files.writeString(directory.resolve("kubeconfig"), """
                current-context: c
                contexts: [{name: c, context: {cluster: k}}]
                clusters: [{name: k, cluster: {server: "%s"}}]
                """.formatted(server));
    }

    @AfterEach
    void close() {
        loop.close();
    }

    private String get() throws IOException {
        try (ControllerPages pages = new ControllerPages(options, loop, new PrintWriter(new StringWriter()))) {
            return pages.get("/debug/status").toString();
        }
    }

    /** The answer in a cluster whose API has this address; its proxy gives {@code proxied}. */
    private String get(URI published, Page proxied) throws IOException {
        JsonObject lease = JsonObject.EMPTY.with(
                "metadata",
                JsonObject.EMPTY.with(
                        "annotations", JsonObject.EMPTY.with(DebugAddress.ANNOTATION, published.toString())));
        return get(Page.json(lease), proxied);
    }

    /** The answer in a cluster whose API gives {@code lease} for the Lease with the address. */
    private String get(Page lease, Page proxied) throws IOException {
        try (PagesServer api = server(
                (path, query) -> CompletableFuture.completedFuture(path.contains("/proxy/") ? proxied : lease))) {
            cluster(url(api).toString());
            options.client = new ClientOptions(Map.of("KUBECONFIG", kubeconfig.toString()));
            return get();
        }
    }

    /** A refusal of the API server. */
    private static Page refusal(int status, String message) {
        return new Page(
                status,
                "application/json",
                Json.writeBytes(JsonObject.EMPTY.with("kind", "Status").with("message", message)));
    }

    private static PagesServer server(Pages pages) throws IOException {
        return PagesServer.start(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), pages);
    }

    private static URI url(PagesServer server) {
        return URI.create("http://127.0.0.1:" + server.address().getPort());
    }

    private static CompletableFuture<Page> local(String path, String query) {
        return CompletableFuture.completedFuture(Page.json(JsonObject.EMPTY.with("asked", path + query)));
    }

    @Test
    void theLeaderIsAskedAtTheAddressThatItPublished() throws IOException {
        InstancePages pages = new InstancePages(ControllerPagesTest::local, Randoms.seeded(1));
        try (PagesServer controller = server(pages)) {
            assertThat(get(pages.at(url(controller)), Page.text(403, "no")))
                    .isEqualTo("Answer[from=the controller at " + url(controller)
                            + ", page=Optional[{\"asked\":\"/debug/status\"}]]");
        }
    }

    @Test
    void theControllerOfAnotherClusterAtTheSameAddressDoesNotAnswer() throws IOException {
        // given a leader on another machine, and here a controller at the same address
        InstancePages leader = new InstancePages(ControllerPagesTest::local, Randoms.seeded(2));
        try (PagesServer other = server(new InstancePages(ControllerPagesTest::local, Randoms.seeded(1)))) {
            URI published = leader.at(url(other));

            // when the proxy answers, that counts
            assertThat(get(published, Page.json(JsonObject.EMPTY.with("from", "the leader"))))
                    .endsWith(", page=Optional[{\"from\":\"the leader\"}]]");

            // when it does not, then nothing does
            assertThatThrownBy(() -> get(published, Page.text(403, "no")))
                    .isInstanceOf(NoControllerException.class)
                    .hasMessageStartingWith(
                            "the controller at " + url(other)
                                    + " is another one than the leader, which has published this address for its own machine; ");
        }
    }

    @Test
    void anEarlierControllerPublishesNoIdAndAnswersAsBefore() throws IOException {
        try (PagesServer controller = server(ControllerPagesTest::local)) {
            assertThat(get(url(controller), Page.text(403, "no"))).contains("/debug/status");
        }
    }

    @Test
    void theProxyIsAskedIfTheAddressMayNotBeRead() throws IOException {
        Page refused = refusal(403, "leases is forbidden");

        // given a user who may not read the Lease, when the proxy answers, then that counts
        assertThat(get(refused, Page.json(JsonObject.EMPTY.with("from", "the leader"))))
                .endsWith(", page=Optional[{\"from\":\"the leader\"}]]");

        // and when it does not, then both reasons are told, and the API alone may be asked
        assertThatThrownBy(() -> get(refused, Page.text(503, "no endpoints")))
                .isInstanceOf(NoControllerException.class)
                .hasMessage("the address that the controller has published cannot be read: leases is forbidden; the"
                        + " controller behind the service kube-system/nodekeeper-controller:10257 answers 503: no"
                        + " endpoints");
    }

    @Test
    void anApiServerThatRefusesIsNotCalledSilent() {
        assertThatThrownBy(() -> get(refusal(401, "Unauthorized"), Page.text(401, "no")))
                .isNotInstanceOf(NoControllerException.class)
                .hasMessageContaining(" answers 401: Unauthorized\nWithout it: --server URL")
                .message()
                .doesNotContain("does not answer");
    }

    @Test
    void theNetworkPolicyIsNamedIfTheProxyDoesNotReachThePod() {
        Page silence = refusal(503, "error trying to reach service: dial tcp 10.1.0.7:10257: i/o timeout");

        assertThatThrownBy(() -> get(URI.create("http://127.0.0.1:1"), silence))
                .isInstanceOf(NoControllerException.class)
                .hasMessageEndingWith(": i/o timeout; the NetworkPolicy of its pods must admit the API servers"
                        + " (docs/exposed-pages.md); else use kubectl port-forward and --server https://127.0.0.1:PORT"
                        + " with --token-file");
    }

    @Test
    void aProxyThatOtherClientsUseIsNamedIfTheApiServerCannotBeReached() {
        options.client = new ClientOptions(
                Map.of("KUBECONFIG", kubeconfig.toString(), "https_proxy", "http://user:secret@proxy:3128"));

        assertThatThrownBy(this::get)
                .isInstanceOf(IOException.class)
                .hasMessageContaining("; https_proxy is set, but nodekeeper uses no proxy\nWithout it: --server URL")
                .message()
                .doesNotContain("secret");
    }

    @Test
    void aProxyThatOtherClientsUseIsNamedIfAControllerCannotBeReached() {
        options.client = new ClientOptions(Map.of("HTTPS_PROXY", "http://proxy:3128"));
        options.server = Optional.of(URI.create("http://127.0.0.1:1"));

        assertThatThrownBy(this::get)
                .hasMessageStartingWith("the controller at http://127.0.0.1:1 cannot be reached: ")
                .hasMessageEndingWith("; HTTPS_PROXY is set, but nodekeeper uses no proxy");
    }

    @Test
    void noProxyIsNamedWhereNoneIsSet() {
        options.client = new ClientOptions(Map.of("KUBECONFIG", kubeconfig.toString(), "HTTPS_PROXY", ""));

        assertThatThrownBy(this::get).message().doesNotContain("proxy is set").doesNotContain("uses no proxy");
    }
}
