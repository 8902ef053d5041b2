package io.nodekeeper.apiserver.netty;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.informers.ResourceEventHandler;
import io.fabric8.kubernetes.client.informers.SharedIndexInformer;
import io.kubernetes.client.informer.SharedInformerFactory;
import io.kubernetes.client.openapi.ApiClient;
import io.kubernetes.client.openapi.apis.CoreV1Api;
import io.kubernetes.client.openapi.models.V1Node;
import io.kubernetes.client.openapi.models.V1NodeList;
import io.kubernetes.client.util.CallGeneratorParams;
import io.kubernetes.client.util.ClientBuilder;
import io.kubernetes.client.util.credentials.AccessTokenAuthentication;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The informers of Java's two Kubernetes clients, unmodified, against a real server. */
@Timeout(120)
class ClientInformerTest {
    private TransportServer server;
    private final LinkedBlockingQueue<String> seen = new LinkedBlockingQueue<>();

    @BeforeEach
    void start() throws Exception {
        server = new TransportServer(HttpClient.Version.HTTP_1_1);
    }

    @AfterEach
    void stop() throws Exception {
        server.close();
    }

    private String next() throws InterruptedException {
        return String.valueOf(seen.poll(20, TimeUnit.SECONDS));
    }

    private String url() {
        return "https://127.0.0.1:" + server.https.port();
    }

    /** What a handler of either client notes. */
    private final class Notes implements ResourceEventHandler<Node> {
        @Override
        public void onAdd(Node node) {
            seen.add("add " + node.getMetadata().getName());
        }

        @Override
        public void onUpdate(Node before, Node after) {
            seen.add("update " + after.getMetadata().getName() + " "
                    + after.getMetadata().getLabels());
        }

        @Override
        public void onDelete(Node node, boolean unknown) {
            seen.add("delete " + node.getMetadata().getName());
        }
    }

    @Test
    @Tag("W69")
    @Tag("W78")
    void fabric8SyncsOverAWebSocketAndSeesLaterChanges() throws Exception {
        server.node("n1", 0);
        Config config = new ConfigBuilder(Config.empty())
                .withMasterUrl(url())
                .withOauthToken("controller")
                .withTrustCerts(true)
                .withDisableHostnameVerification(true)
                .build();
        try (KubernetesClient client =
                        new KubernetesClientBuilder().withConfig(config).build();
                SharedIndexInformer<Node> informer = client.nodes().inform(new Notes())) {
            assertThat(informer.hasSynced()).isTrue();
            assertThat(next()).isEqualTo("add n1");
            server.node("n2", 0);
            assertThat(next()).isEqualTo("add n2");
            assertThat(server.get("/metrics").body())
                    .contains("apiserver_registered_watchers{group=\"\",kind=\"Node\",version=\"v1\"} 1.0");
            server.client()
                    .send(
                            server.request("/api/v1/nodes/n1")
                                    .header("Content-Type", "application/merge-patch+json")
                                    .method(
                                            "PATCH",
                                            HttpRequest.BodyPublishers.ofString(
                                                    "{\"metadata\":{\"labels\":{\"a\":\"b\"}}}"))
                                    .build(),
                            HttpResponse.BodyHandlers.ofString());
            assertThat(next()).isEqualTo("update n1 {a=b}");
            server.client()
                    .send(
                            server.request("/api/v1/nodes/n2").DELETE().build(),
                            HttpResponse.BodyHandlers.ofString());
            assertThat(next()).isEqualTo("delete n2");
            assertThat(informer.isWatching()).isTrue();
        }
    }

    @Test
    @Tag("W78")
    void theOfficialClientSyncsAndSeesLaterChanges() throws Exception {
        server.node("n1", 0);
        ApiClient client = new ClientBuilder()
                .setBasePath(url())
                .setVerifyingSsl(false)
                .setAuthentication(new AccessTokenAuthentication("controller"))
                .build()
                .setReadTimeout(0);
        CoreV1Api api = new CoreV1Api(client);
        SharedInformerFactory factory = new SharedInformerFactory(client);
        try {
            io.kubernetes.client.informer.SharedIndexInformer<V1Node> informer = factory.sharedIndexInformerFor(
                    (CallGeneratorParams params) -> api.listNode()
                            .resourceVersion(params.resourceVersion)
                            .timeoutSeconds(params.timeoutSeconds)
                            .watch(params.watch)
                            .buildCall(null),
                    V1Node.class,
                    V1NodeList.class);
            informer.addEventHandler(new io.kubernetes.client.informer.ResourceEventHandler<>() {
                @Override
                public void onAdd(V1Node node) {
                    seen.add("add " + node.getMetadata().getName());
                }

                @Override
                public void onUpdate(V1Node before, V1Node after) {
                    seen.add("update " + after.getMetadata().getName());
                }

                @Override
                public void onDelete(V1Node node, boolean unknown) {
                    seen.add("delete " + node.getMetadata().getName());
                }
            });
            factory.startAllRegisteredInformers();
            assertThat(next()).isEqualTo("add n1");
            assertThat(informer.hasSynced()).isTrue();
            server.node("n2", 0);
            assertThat(next()).isEqualTo("add n2");
            server.client()
                    .send(
                            server.request("/api/v1/nodes/n2").DELETE().build(),
                            HttpResponse.BodyHandlers.ofString());
            assertThat(next()).isEqualTo("delete n2");
        } finally {
            factory.stopAllRegisteredInformers();
            client.getHttpClient().dispatcher().executorService().shutdown();
            client.getHttpClient().connectionPool().evictAll();
        }
    }
}
