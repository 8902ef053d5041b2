package io.nodekeeper.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.client.Call;
import io.nodekeeper.client.HttpTransport;
import io.nodekeeper.client.Reply;
import io.nodekeeper.client.Transport;
import io.nodekeeper.client.TransportException;
import io.nodekeeper.client.config.Kubeconfig;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Isolated;

/** The renewals of five thousand nodes, as they come every ten seconds, with twenty watchers. */
@Isolated("It measures.")
@Tag("long")
class HeartbeatLoadIT {
    private static final int NODES = 5_000;
    private static final int WATCHERS = 20;
    /** Each node renews each ten seconds. */
    private static final int RATE = NODES / 10;

    private static final int SECONDS = 10;
    /**
     * One pause of the machine makes a round's 1 % late, and so do the compilers in the first rounds on a slow one; a server that
     * is too slow is so in all.
     */
    private static final int MOST_ROUNDS = 6;

    /** The connections of a real fleet exist already, so handshakes are not measured. */
    private static final int CONNECTIONS = 32;

    private static final String PATH = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases";

    @TempDir
    Path directory;

    @Test
    @Tag("W87")
    void fiveThousandNodesRenewWithinASecondAndEveryWatcherSeesEachRenewal() throws Exception {
        try (Running server = Running.startBig(
                directory,
                "apiserver",
                "apiserver",
                "--data-dir",
                directory.resolve("data").toString(),
                "--secure-port",
                "0")) {
            server.awaitReady();
            HttpTransport nodes =
                    new HttpTransport(Kubeconfig.load(directory.resolve("data").resolve("admin.kubeconfig")));
            HttpTransport watches =
                    new HttpTransport(Kubeconfig.load(directory.resolve("data").resolve("admin.kubeconfig")));
            try {
                // Given the leases of all nodes, and watchers of them.
                create(nodes);
                String version = Json.parseObject(Fleet.await(nodes.send(Call.get(PATH + "?limit=1")))
                                .body())
                        .object("metadata")
                        .text("resourceVersion");
                List<AtomicLong> seen = new ArrayList<>();
                for (int i = 0; i < WATCHERS; i++) {
                    AtomicLong count = new AtomicLong();
                    seen.add(count);
                    watches.open(
                            Call.get(PATH + "?watch=true&timeoutSeconds=600&resourceVersion=" + version),
                            new Counter(count));
                }

                // When they are renewed at their own rate; the first of it is a young process's warming up.
                renew(nodes);
                List<Duration> rounds = new ArrayList<>();
                do {
                    rounds.add(p99(renew(nodes)));
                } while (rounds.getLast().compareTo(Duration.ofSeconds(1)) >= 0 && rounds.size() < MOST_ROUNDS);

                // Then nearly all renewals take less than a second, and no node misses one.
                assertThat(rounds.getLast()).as("p99 of each round: %s", rounds).isLessThan(Duration.ofSeconds(1));
                long renewals = (1L + rounds.size()) * RATE * SECONDS;
                Eventually.within(
                        Duration.ofSeconds(60), () -> seen.stream().allMatch(count -> count.get() == renewals));
            } finally {
                nodes.close();
                watches.close();
            }
        }
    }

    private static void create(HttpTransport transport) throws Exception {
        List<CompletableFuture<Reply>> created = new ArrayList<>();
        Semaphore connections = new Semaphore(CONNECTIONS);
        for (int node = 0; node < NODES; node++) {
            connections.acquire();
            created.add(transport
                    .send(new Call("POST", PATH, "application/json", lease(node)))
                    .whenComplete((reply, error) -> connections.release()));
        }
        for (CompletableFuture<Reply> reply : created) {
            assertThat(Fleet.await(reply).status()).isEqualTo(201);
        }
    }

    /** Renews at a steady rate, whatever the answers take, and returns how long each took, in nanoseconds. */
    private static List<Long> renew(HttpTransport transport) throws Exception {
        int total = RATE * SECONDS;
        List<CompletableFuture<Long>> renewed = new ArrayList<>();
        Semaphore connections = new Semaphore(CONNECTIONS);
        long begin = System.nanoTime();
        for (int i = 0; i < total; i++) {
            long due = begin + i * 1_000_000_000L / RATE;
            LockSupport.parkNanos(Math.max(0, due - System.nanoTime()));
            connections.acquire();
            String name = name(i % NODES);
            Call call =
                    new Call("PATCH", PATH + "/" + name, "application/merge-patch+json", Json.writeBytes(renewal()));
            // From when it was due: a late start is the server's doing as much as a late answer.
            renewed.add(transport
                    .send(call)
                    .whenComplete((reply, error) -> connections.release())
                    .thenApply(reply -> {
                        assertThat(reply.status()).isEqualTo(200);
                        return System.nanoTime() - due;
                    }));
        }
        List<Long> latencies = new ArrayList<>();
        for (CompletableFuture<Long> latency : renewed) {
            latencies.add(Fleet.await(latency));
        }
        return latencies;
    }

    private static Duration p99(List<Long> latencies) {
        long p99 = latencies.stream().sorted().toList().get(latencies.size() * 99 / 100);
        System.out.printf(
                "heartbeats: %d renewals at %d/s with %d watchers, p99 %.1f ms%n",
                latencies.size(), RATE, WATCHERS, p99 / 1e6);
        return Duration.ofNanos(p99);
    }

    private static byte[] lease(int node) {
        return Json.writeBytes(renewal()
                .with("metadata", JsonObject.builder().put("name", name(node)).build()));
    }

    private static JsonObject renewal() {
        return JsonObject.builder()
                .put(
                        "spec",
                        JsonObject.builder()
                                .put("leaseDurationSeconds", 40)
                                .put(
                                        "renewTime",
                                        Instant.now()
                                                .truncatedTo(ChronoUnit.MICROS)
                                                .toString())
                                .build())
                .build();
    }

    private static String name(int node) {
        return "node-" + node;
    }

    private record Counter(AtomicLong count) implements Transport.StreamHandler {
        @Override
        public void onOpen() {
            // What counts are the lines.
        }

        @Override
        public void onLine(byte[] line) {
            count.incrementAndGet();
        }

        @Override
        public void onEnd(Optional<Reply> refusal, Optional<TransportException> why) {
            // Then the count stays too low, which is told.
        }
    }
}
