package io.nodekeeper.apiserver.netty;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** HTTP/2 over TLS with the JDK's client, which keeps one connection to a server. */
@Timeout(90)
class Http2Test {
    private TransportServer server;

    /** A smaller stream window: by default one stream of the JDK's client can fill the window of the connection. */
    @BeforeAll
    static void boundStreams() {
        System.setProperty("jdk.httpclient.windowsize", "1048576");
    }

    @AfterAll
    static void unbindStreams() {
        System.clearProperty("jdk.httpclient.windowsize");
    }

    @BeforeEach
    void start() throws Exception {
        server = new TransportServer(HttpClient.Version.HTTP_2);
    }

    @AfterEach
    void stop() throws Exception {
        server.close();
    }

    private HttpResponse<InputStream> watch(String uri) throws Exception {
        return server.client()
                .sendAsync(server.request(uri).build(), HttpResponse.BodyHandlers.ofInputStream())
                .get(10, TimeUnit.SECONDS);
    }

    private static BufferedReader reader(HttpResponse<InputStream> response) {
        return new BufferedReader(new InputStreamReader(response.body(), StandardCharsets.UTF_8));
    }

    @Test
    void http2IsNegotiatedByAlpn() throws Exception {
        HttpResponse<String> created = server.node("n1", 250_000);
        assertThat(created.version()).isEqualTo(HttpClient.Version.HTTP_2);
        assertThat(created.statusCode()).isEqualTo(201);
        HttpResponse<String> list = server.get("/api/v1/nodes");
        assertThat(list.body()).startsWith("{\"kind\":\"NodeList\"").contains("\"name\":\"n1\"");
        assertThat(list.headers().firstValue("date")).isPresent();
        assertThat(list.headers().firstValue("audit-id")).isPresent();
        HttpResponse<String> head = server.client()
                .send(
                        server.request("/api/v1/nodes")
                                .method("HEAD", HttpRequest.BodyPublishers.noBody())
                                .build(),
                        HttpResponse.BodyHandlers.ofString());
        assertThat(head.statusCode()).isEqualTo(200);
        assertThat(head.body()).isEmpty();
        assertThat(server.get("/api/v1/nodes/n2").statusCode()).isEqualTo(404);
    }

    @Test
    @Tag("W29")
    void bodyAboveTheLimitEndsOnlyItsStream() throws Exception {
        HttpResponse<InputStream> watch = watch("/api/v1/nodes?watch=true");
        HttpResponse<String> refused = server.node("n1", 3_200_000);
        assertThat(refused.statusCode()).isEqualTo(413);
        server.node("n2", 0);
        assertThat(reader(watch).readLine()).contains("\"name\":\"n2\"");
    }

    @Test
    @Tag("W12")
    void manyWatchesShareOneConnection() throws Exception {
        List<BufferedReader> watches = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            HttpResponse<InputStream> watch = watch("/api/v1/nodes?watch=true&timeoutSeconds=30");
            assertThat(watch.version()).isEqualTo(HttpClient.Version.HTTP_2);
            watches.add(reader(watch));
        }
        for (int i = 0; i < 50; i++) {
            server.node("n" + i, 500);
        }
        for (BufferedReader watch : watches) {
            for (int i = 0; i < 50; i++) {
                assertThat(watch.readLine()).contains("\"name\":\"n" + i + "\"");
            }
        }
    }

    @Test
    @Tag("W66")
    void watchEndsCleanlyAtItsTimeout() throws Exception {
        HttpResponse<InputStream> watch = watch("/api/v1/nodes?watch=true&timeoutSeconds=1");
        assertThat(reader(watch).readLine()).isNull();
        assertThat(server.get("/healthz").body()).isEqualTo("ok");
    }

    @Test
    @Tag("W70")
    void unreadStreamIsResetButItsConnectionContinues() throws Exception {
        HttpResponse<InputStream> deaf = watch("/api/v1/nodes?watch=true");
        HttpResponse<InputStream> good = watch("/api/v1/nodes?watch=true");
        BufferedReader lines = reader(good);
        // 20 MB, far more than a stream's window and the server's buffer for one watcher
        for (int i = 0; i < 100; i++) {
            assertThat(server.node("n" + i, 200_000).statusCode()).isEqualTo(201);
            assertThat(lines.readLine()).contains("\"name\":\"n" + i + "\"");
        }
        BufferedReader late = reader(deaf);
        int heard = 0;
        boolean cut = false;
        try {
            for (String line = late.readLine(); line != null; line = late.readLine()) {
                heard++;
            }
        } catch (IOException e) {
            cut = true;
        }
        assertThat(cut).isTrue();
        assertThat(heard).isLessThan(99);
        assertThat(server.get("/healthz").version()).isEqualTo(HttpClient.Version.HTTP_2);
        server.node("last", 0);
        assertThat(lines.readLine()).contains("\"name\":\"last\"");
    }

    @Test
    @Tag("W88")
    void shutdownEndsWatchesAndCompletesActiveRequests() throws Exception {
        BufferedReader watch = reader(watch("/api/v1/nodes?watch=true"));
        // The first read of the metrics takes longer than later ones.
        server.get("/metrics");
        // waits three seconds for a future revision
        CompletableFuture<HttpResponse<String>> slow = server.client()
                .sendAsync(
                        server.request("/api/v1/nodes/n1?resourceVersion=999999")
                                .build(),
                        HttpResponse.BodyHandlers.ofString());
        server.awaitInflightReads(2);
        server.https.close();
        assertThat(watch.readLine()).isNull();
        assertThat(slow.get(10, TimeUnit.SECONDS).statusCode()).isEqualTo(504);
    }

    @Test
    void resetStreamEndsItsWatch() throws Exception {
        HttpResponse<InputStream> watch = watch("/api/v1/nodes?watch=true");
        assertThat(open()).isEqualTo(1);
        watch.body().close();
        for (int i = 0; i < 100 && open() > 0; i++) {
            Thread.sleep(50);
        }
        assertThat(open()).isZero();
    }

    private double open() throws Exception {
        return server.get("/metrics")
                .body()
                .lines()
                .filter(line -> line.startsWith("apiserver_registered_watchers{"))
                .mapToDouble(line -> Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1)))
                .sum();
    }

    @Test
    void concurrentRequestsAreAllAnswered() throws Exception {
        List<CompletableFuture<HttpResponse<String>>> answers = new ArrayList<>();
        server.get("/healthz");
        for (int i = 0; i < 200; i++) {
            answers.add(server.client()
                    .sendAsync(server.request("/healthz").build(), HttpResponse.BodyHandlers.ofString()));
        }
        for (CompletableFuture<HttpResponse<String>> answer : answers) {
            assertThat(answer.get(20, TimeUnit.SECONDS).body()).isEqualTo("ok");
        }
    }
}
