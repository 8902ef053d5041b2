package io.nodekeeper.it;

import com.sun.net.httpserver.HttpServer;
import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsServer;
import io.nodekeeper.api.KubeTime;
import io.nodekeeper.api.Node;
import io.nodekeeper.api.ResourceType;
import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.client.PatchType;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;

/**
 * Writes a Node's status as a kubelet does, but more often and from an older state: each 5 s a two-way patch with all its
 * conditions, and with the order of all conditions that the Node had one period before. It also serves the kubelet's health
 * check and, over TLS and only to clients with a token, its metrics.
 */
final class StandInKubelet implements AutoCloseable {
    static final List<String> CONDITIONS = List.of("MemoryPressure", "DiskPressure", "PIDPressure", "Ready");
    private static final Duration PERIOD = Duration.ofSeconds(5);
    private static final char[] PASSWORD = "changeit".toCharArray();

    private final String name;
    private final Observer observer;
    private final HttpServer health;
    private final HttpsServer metrics;
    private final Path certificate;
    private final List<String> failures = new CopyOnWriteArrayList<>();
    private final Thread reporter = new Thread(this::report, "stand-in kubelet");
    private volatile boolean ended;
    private volatile int writes;
    private volatile Instant lastRelist = Instant.EPOCH;

    /** Registers the Node {@code name} of this machine, and starts. */
    StandInKubelet(Path directory, String name, Path kubeconfig) throws Exception {
        this.name = name;
        observer = new Observer(kubeconfig);
        health = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        health.createContext("/healthz", exchange -> {
            exchange.sendResponseHeaders(200, 2);
            exchange.getResponseBody().write("ok".getBytes(StandardCharsets.UTF_8));
            exchange.close();
        });
        health.start();
        Path store = directory.resolve("kubelet.p12");
        certificate = directory.resolve("kubelet.crt");
        metrics = metrics(store);
        metrics.start();
        String bootId =
                Files.readString(Path.of("/proc/sys/kernel/random/boot_id")).strip();
        call(observer.client()
                .create(
                        ResourceType.NODES,
                        "",
                        Json.parseObject("{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{\"name\":\"" + name
                                + "\"},\"status\":{\"nodeInfo\":{\"bootID\":\"" + bootId + "\"}}}")));
        reporter.start();
    }

    /** As {@code kubelet} makes it at its first start: signed by itself, for the node's name. */
    private HttpsServer metrics(Path store) throws Exception {
        String keytool =
                Path.of(System.getProperty("java.home"), "bin", "keytool").toString();
        Command.ok(
                keytool,
                "-genkeypair",
                "-alias",
                "kubelet",
                "-keyalg",
                "EC",
                "-dname",
                "CN=" + name,
                "-ext",
                "SAN=dns:" + name,
                "-validity",
                "2",
                "-storetype",
                "PKCS12",
                "-keystore",
                store.toString(),
                "-storepass",
                new String(PASSWORD));
        Command.ok(
                keytool,
                "-exportcert",
                "-rfc",
                "-alias",
                "kubelet",
                "-keystore",
                store.toString(),
                "-storepass",
                new String(PASSWORD),
                "-file",
                certificate.toString());
        KeyStore keys = KeyStore.getInstance("PKCS12");
        try (InputStream file = Files.newInputStream(store)) {
            keys.load(file, PASSWORD);
        }
        KeyManagerFactory managers = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
        managers.init(keys, PASSWORD);
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(managers.getKeyManagers(), null, null);
        HttpsServer server = HttpsServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.setHttpsConfigurator(new HttpsConfigurator(context));
        server.createContext("/metrics", exchange -> {
            String token = String.valueOf(exchange.getRequestHeaders().getFirst("Authorization"));
            byte[] body = ("# TYPE kubelet_pleg_last_seen_seconds gauge\nkubelet_pleg_last_seen_seconds "
                            + lastRelist().getEpochSecond() + "\n")
                    .getBytes(StandardCharsets.UTF_8);
            boolean known = token.startsWith("Bearer ");
            exchange.sendResponseHeaders(known ? 200 : 401, known ? body.length : -1);
            if (known) {
                exchange.getResponseBody().write(body);
            }
            exchange.close();
        });
        return server;
    }

    private Instant lastRelist() {
        return lastRelist.equals(Instant.EPOCH) ? Instant.now() : lastRelist;
    }

    /** From now on its metrics say that its last relist was at {@code time}. */
    void stalledSince(Instant time) {
        lastRelist = time;
    }

    /** Its relists are on time again. */
    void relists() {
        lastRelist = Instant.EPOCH;
    }

    int healthPort() {
        return health.getAddress().getPort();
    }

    int metricsPort() {
        return metrics.getAddress().getPort();
    }

    /** What verifies its certificate. */
    Path certificate() {
        return certificate;
    }

    /** The health check answers no more. */
    void stopHealth() {
        health.stop(0);
    }

    /** How often it has written its status. */
    int writes() {
        return writes;
    }

    /** The errors of its own writes. */
    List<String> failures() {
        return failures;
    }

    /** The Node as it is stored. */
    Node node() throws Exception {
        return new Node(call(observer.client().get(ResourceType.NODES, "", name)));
    }

    private void report() {
        List<String> order = List.of();
        while (!ended) {
            try {
                List<String> before = node().conditions().stream()
                        .map(condition -> condition.type())
                        .toList();
                call(observer.client()
                        .patch(ResourceType.NODES, "", name, "status", PatchType.STRATEGIC, patch(order)));
                order = before;
                writes++;
                Thread.sleep(PERIOD.toMillis());
            } catch (InterruptedException e) {
                return;
            } catch (Exception e) {
                failures.add(String.valueOf(e));
            }
        }
    }

    private static JsonObject patch(List<String> stale) {
        String now = KubeTime.format(Instant.now());
        List<String> order = new ArrayList<>(stale);
        CONDITIONS.stream().filter(type -> !order.contains(type)).forEach(order::add);
        String ordered =
                order.stream().map(type -> "{\"type\":\"" + type + "\"}").collect(Collectors.joining(","));
        String conditions = CONDITIONS.stream()
                .map(type -> "{\"type\":\"" + type + "\",\"status\":\"" + (type.equals("Ready") ? "True" : "False")
                        + "\",\"lastHeartbeatTime\":\"" + now + "\",\"reason\":\"Kubelet\",\"message\":\"as ever\"}")
                .collect(Collectors.joining(","));
        return Json.parseObject("{\"status\":{\"$setElementOrder/conditions\":[" + ordered + "],\"conditions\":["
                + conditions + "],\"capacity\":{\"cpu\":\"4\",\"memory\":\"8Gi\",\"pods\":\"110\"}}}");
    }

    private static JsonObject call(CompletableFuture<JsonObject> call) throws Exception {
        return call.get(30, TimeUnit.SECONDS);
    }

    @Override
    public void close() throws Exception {
        ended = true;
        reporter.interrupt();
        reporter.join();
        health.stop(0);
        metrics.stop(0);
        observer.close();
    }
}
