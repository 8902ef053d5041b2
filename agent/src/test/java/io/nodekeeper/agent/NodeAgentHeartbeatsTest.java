package io.nodekeeper.agent;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.nodekeeper.agent.config.AgentConfig;
import io.nodekeeper.agent.config.AgentConfigBuilder;
import io.nodekeeper.agent.config.CgroupConfig;
import io.nodekeeper.agent.config.CgroupDriver;
import io.nodekeeper.agent.config.ContainerLogConfig;
import io.nodekeeper.agent.config.CpuConfig;
import io.nodekeeper.agent.config.ImageGcConfig;
import io.nodekeeper.agent.config.PodConfig;
import io.nodekeeper.agent.config.PodSecurityConfig;
import io.nodekeeper.agent.config.StaticPodConfig;
import io.nodekeeper.client.config.ServerAccess;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The heartbeats of the assembled agent beside an API server on a real socket, which does not answer other calls. In real time. */
class NodeAgentHeartbeatsTest {
    private static final String NODE = """
            {"kind": "Node", "apiVersion": "v1", "metadata": {"name": "n1", "uid": "u1", "resourceVersion": "5"}}""";

    private static final String LEASE = """
            {"kind": "Lease", "apiVersion": "coordination.k8s.io/v1",
             "metadata": {"name": "n1", "namespace": "kube-node-lease", "uid": "l1", "resourceVersion": "7",
               "ownerReferences": [{"apiVersion": "v1", "kind": "Node", "name": "n1", "uid": "u1"}]},
             "spec": {"holderIdentity": "n1", "leaseDurationSeconds": 4}}""";

    /** More than the calls that an agent makes at the same time, which are 64. */
    private static final int PODS = 200;

    @TempDir
    Path directory;

    private final CountDownLatch end = new CountDownLatch(1);
    /**
     * Calls that create pods: they have no answer. As many as the agent may make are under way, and when one has taken too long, the
     * next one follows.
     */
    private final AtomicInteger hanging = new AtomicInteger();
    /** Heartbeats since the last call that creates a pod. One that waits for the end of such a call comes before the next call. */
    private final AtomicInteger renewals = new AtomicInteger();

    private final AtomicInteger reports = new AtomicInteger();

    private final ExecutorService threads = Executors.newCachedThreadPool();
    private HttpServer server;
    private Optional<NodeAgent> agent = Optional.empty();

    @BeforeEach
    void listen() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.setExecutor(threads);
        server.createContext("/", this::serve);
        server.start();
    }

    @AfterEach
    void stop() {
        agent.ifPresent(NodeAgent::stop);
        end.countDown();
        server.stop(0);
        threads.shutdownNow();
    }

    @Test
    void shouldGoOnWhileAsManyOtherCallsHangAsTheAgentMayMake() throws Exception {
        // given an agent with more static pods than it may make calls, none of whose copies the server creates
        Path manifests = Files.createDirectory(directory.resolve("manifests"));
        for (int i = 0; i < PODS; i++) {
            Files.writeString(manifests.resolve("p" + i + ".yaml"), """
                    {apiVersion: v1, kind: Pod, metadata: {name: p%d, namespace: shop},
                     spec: {containers: [{name: app, image: "app:1"}]}}""".formatted(i));
        }
        NodeAgent started = new NodeAgent(
                new ServerAccess(
                        URI.create("http://127.0.0.1:" + server.getAddress().getPort()),
                        List.of(),
                        false,
                        "",
                        Optional.empty(),
                        "",
                        Optional.empty()),
                config(manifests));
        agent = Optional.of(started);
        started.start();

        // when it makes as many calls as it may
        await(() -> hanging.get() >= 64);

        // then the lease is renewed and the status reported while all of these calls hang, which each may do for 10 s
        await(() -> renewals.get() >= 2 && reports.get() >= 1);
    }

    private AgentConfig config(Path manifests) {
        PodConfig pods = new PodConfig(
                directory.resolve("logs"),
                List.of(),
                "",
                Path.of("/etc/resolv.conf"),
                StaticPodConfig.DEFAULT.withPath(manifests),
                Duration.ZERO,
                new CgroupConfig(false, CgroupDriver.CGROUPFS, "/", false, true, -1, false, 0),
                ImageGcConfig.DEFAULT,
                CpuConfig.DEFAULT,
                ContainerLogConfig.DEFAULT,
                PodSecurityConfig.DEFAULT);
        return new AgentConfigBuilder("n1")
                .rootDir(directory.resolve("root"))
                .pods(pods)
                .featureGates(Map.of("PodLifecycle", true))
                .containerRuntimeEndpoint("unix://" + directory.resolve("missing.sock"))
                .nodeLeaseDurationSeconds(4)
                .nodeStatusUpdateFrequency(Duration.ofSeconds(2))
                .nodeStatusReportFrequency(Duration.ofSeconds(2))
                .build();
    }

    private static void await(BooleanSupplier condition) throws InterruptedException {
        boolean holds = condition.getAsBoolean();
        for (int wait = 0; wait < 1_200 && !holds; wait++) {
            Thread.sleep(50);
            holds = condition.getAsBoolean();
        }
        assertThat(holds).isTrue();
    }

    private void serve(HttpExchange exchange) throws IOException {
        byte[] body = exchange.getRequestBody().readAllBytes();
        String query = String.valueOf(exchange.getRequestURI().getQuery());
        String call =
                exchange.getRequestMethod() + " " + exchange.getRequestURI().getPath();
        if (query.contains("watch=true")) {
            exchange.sendResponseHeaders(200, 0);
            exchange.getResponseBody().flush();
            hang();
            exchange.close();
            return;
        }
        switch (call) {
            case "POST /api/v1/namespaces/shop/pods" -> {
                renewals.set(0);
                reports.set(0);
                hanging.incrementAndGet();
                hang();
                exchange.close();
            }
            case "PUT /apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/n1" -> {
                renewals.incrementAndGet();
                answer(exchange, 200, LEASE);
            }
            case "PATCH /api/v1/nodes/n1/status" -> {
                reports.incrementAndGet();
                answer(exchange, 200, NODE);
            }
            case "GET /apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/n1" ->
                answer(exchange, 200, LEASE);
            case "POST /api/v1/nodes", "GET /api/v1/nodes/n1" -> answer(exchange, 200, NODE);
            case "GET /api/v1/nodes" -> answer(exchange, 200, list(NODE));
            case "GET /api/v1/pods" -> answer(exchange, 200, list(""));
            default -> answer(exchange, call.startsWith("POST ") ? 201 : 404, new String(body, StandardCharsets.UTF_8));
        }
    }

    private static String list(String item) {
        return "{\"metadata\": {\"resourceVersion\": \"5\"}, \"items\": [" + item + "]}";
    }

    private void hang() {
        try {
            boolean ended = end.await(60, TimeUnit.SECONDS);
            assertThat(ended).isTrue();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static void answer(HttpExchange exchange, int status, String text) throws IOException {
        byte[] body = text.getBytes(StandardCharsets.UTF_8);
        exchange.sendResponseHeaders(status, body.length == 0 ? -1 : body.length);
        try (var out = exchange.getResponseBody()) {
            out.write(body);
        }
    }
}
