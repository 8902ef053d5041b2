package io.nodekeeper.apiserver.netty;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.apiserver.ApiServer;
import io.nodekeeper.apiserver.admission.DefaultTolerations;
import io.nodekeeper.apiserver.audit.AuditLog;
import io.nodekeeper.apiserver.authentication.Authenticator;
import io.nodekeeper.apiserver.flowcontrol.FlowControlOptions;
import io.nodekeeper.apiserver.netty.connections.ConnectionLimits;
import io.nodekeeper.apiserver.request.User;
import io.nodekeeper.client.TestCertificates;
import io.nodekeeper.client.config.Identity;
import io.nodekeeper.store.Journal;
import io.nodekeeper.store.memory.IndexedStore;
import io.nodekeeper.time.Randoms;
import io.nodekeeper.time.ThreadLoop;
import io.nodekeeper.time.ThreadPool;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLContext;

/** A real HTTPS server on loopback with a store in memory, and a client. */
final class TransportServer implements AutoCloseable {
    final ThreadLoop loop = new ThreadLoop("store");
    final ThreadPool workers = new ThreadPool("requests", 4);
    final IndexedStore store = new IndexedStore(loop, Journal.NONE);
    final ApiServer core;
    final HttpsServer https;
    final SSLContext admin;
    private final HttpClient client;

    TransportServer(FlowControlOptions limits, HttpClient.Version version, Duration drain, long memory)
            throws Exception {
        this(limits, version, drain, memory, ConnectionLimits.ofProcess(), Optional.empty());
    }

    TransportServer(
            FlowControlOptions limits,
            HttpClient.Version version,
            Duration drain,
            long memory,
            ConnectionLimits connections)
            throws Exception {
        this(limits, version, drain, memory, connections, Optional.empty());
    }

    private TransportServer(
            FlowControlOptions limits,
            HttpClient.Version version,
            Duration drain,
            long memory,
            ConnectionLimits connections,
            Optional<AuditLog> audit)
            throws Exception {
        Identity server = Certificates.SERVER.get();
        Identity client = Certificates.CLIENT.get();
        admin = TestCertificates.context(client, server);
        core = new ApiServer(
                store,
                loop,
                Randoms.secure(),
                new Authenticator(Map.of(
                        "controller", User.authenticated("system:kube-controller-manager", List.of()),
                        "other-admin", User.authenticated("other-admin", List.of(User.MASTERS)),
                        "n1", User.authenticated("system:node:n1", List.of("system:nodes")))),
                "127.0.0.1:6443",
                DefaultTolerations.DEFAULT,
                limits,
                workers,
                audit);
        core.start(Duration.ofHours(1)).get(10, TimeUnit.SECONDS);
        https = HttpsServer.start(
                core,
                Certificates.identity(server, client),
                new HttpsOptions(new InetSocketAddress("127.0.0.1", 0), loop.clock(), workers, drain, memory)
                        .with(connections));
        this.client = client(version);
    }

    TransportServer(HttpClient.Version version) throws Exception {
        this(FlowControlOptions.DEFAULT, version, Duration.ofSeconds(20), 64 << 20);
    }

    /** A server with an audit log. */
    TransportServer(HttpClient.Version version, AuditLog audit) throws Exception {
        this(
                FlowControlOptions.DEFAULT,
                version,
                Duration.ofSeconds(20),
                64 << 20,
                ConnectionLimits.ofProcess(),
                Optional.of(audit));
    }

    /** Another client, with its own connections. */
    HttpClient client(HttpClient.Version version) {
        return HttpClient.newBuilder()
                .sslContext(admin)
                .version(version)
                .connectTimeout(Duration.ofSeconds(10))
                .build();
    }

    HttpRequest.Builder request(String uri) {
        return HttpRequest.newBuilder(URI.create("https://127.0.0.1:" + https.port() + uri))
                .timeout(Duration.ofSeconds(30));
    }

    HttpResponse<String> get(String uri) throws Exception {
        return client.send(request(uri).build(), HttpResponse.BodyHandlers.ofString());
    }

    HttpResponse<String> post(String uri, String body) throws Exception {
        return client.send(
                request(uri)
                        .header("Content-Type", "application/json")
                        .POST(HttpRequest.BodyPublishers.ofString(body))
                        .build(),
                HttpResponse.BodyHandlers.ofString());
    }

    HttpResponse<String> node(String name, int padding) throws Exception {
        return post(
                "/api/v1/nodes",
                "{\"metadata\":{\"name\":\"" + name + "\",\"annotations\":{\"a\":\"" + "x".repeat(padding) + "\"}}}");
    }

    /** Says in the status of a node that its API is at this port of the loopback address. */
    void place(String node, int port) throws Exception {
        HttpRequest status = request("/api/v1/nodes/" + node + "/status")
                .header("Content-Type", "application/merge-patch+json")
                .method(
                        "PATCH",
                        HttpRequest.BodyPublishers.ofString(
                                "{\"status\":{\"addresses\":[{\"type\":\"InternalIP\",\"address\":\"127.0.0.1\"}],"
                                        + "\"daemonEndpoints\":{\"kubeletEndpoint\":{\"Port\":" + port + "}}}}"))
                .build();
        assertThat(client.send(status, HttpResponse.BodyHandlers.ofString()).statusCode())
                .isEqualTo(200);
    }

    /** Waits until so many reads are active, of which one is that of the metrics. */
    void awaitInflightReads(int count) throws Exception {
        String line = "apiserver_current_inflight_requests{request_kind=\"readOnly\"} " + count + ".0\n";
        boolean seen = false;
        for (int i = 0; i < 300 && !seen; i++) {
            seen = get("/metrics").body().contains(line);
            Thread.sleep(10);
        }
        assertThat(seen).isTrue();
    }

    HttpClient client() {
        return client;
    }

    @Override
    public void close() throws Exception {
        client.shutdownNow();
        https.close();
        workers.close();
        store.close().get(10, TimeUnit.SECONDS);
    }
}
