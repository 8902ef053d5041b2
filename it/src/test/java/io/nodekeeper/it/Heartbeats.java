package io.nodekeeper.it;

import java.net.http.HttpClient;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Renewals of leases by {@value #NODES} nodes, each once a second with the node's own credential over its own connection.
 * Each is timed from when it was due, so that one that waits makes the later ones of its node late, too.
 */
public final class Heartbeats implements AutoCloseable {
    static final int NODES = 40;

    private static final String LEASES = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases";
    private static final String PREFIX = "probe-";

    private final Prey prey;
    private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
    private final AtomicBoolean ended = new AtomicBoolean();
    private final ConcurrentLinkedQueue<Double> taken = new ConcurrentLinkedQueue<>();

    /** The line of the token file for each node. */
    static List<String> tokens() {
        List<String> lines = new ArrayList<>();
        for (int i = 0; i < NODES; i++) {
            lines.add(PREFIX + i + ",system:node:" + PREFIX + i + ",,\"system:nodes\"");
        }
        return lines;
    }

    Heartbeats(Prey prey) {
        this.prey = prey;
    }

    /** Creates the leases and begins to renew them. */
    void start() throws Exception {
        for (int i = 0; i < NODES; i++) {
            int node = i;
            HttpClient client = prey.client(HttpClient.Version.HTTP_1_1);
            int made = prey.send(client, "POST", LEASES, PREFIX + node, "application/json", lease(node));
            if (made != 201) {
                throw new AssertionError("lease of " + PREFIX + node + ": status " + made + ", expected 201");
            }
            threads.execute(() -> renew(client, node));
        }
    }

    private void renew(HttpClient client, int node) {
        long second = TimeUnit.SECONDS.toNanos(1);
        long due = System.nanoTime() + node * second / NODES;
        try {
            while (!ended.get()) {
                TimeUnit.NANOSECONDS.sleep(Math.max(0, due - System.nanoTime()));
                double seconds;
                try {
                    int status = prey.send(
                            client,
                            "PATCH",
                            LEASES + "/" + PREFIX + node,
                            PREFIX + node,
                            "application/merge-patch+json",
                            renewal());
                    seconds = status == 200 ? (System.nanoTime() - due) / 1e9 : Prey.FAILED;
                } catch (java.io.IOException e) {
                    seconds = Prey.FAILED;
                }
                taken.add(seconds);
                due = Math.max(due + second, System.nanoTime() - second);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** What the renewals took since the last call, seconds, in order; {@link Prey#FAILED} for those that failed. */
    List<Double> taken() {
        List<Double> all = new ArrayList<>();
        for (Double one = taken.poll(); one != null; one = taken.poll()) {
            all.add(one);
        }
        all.sort(null);
        return all;
    }

    private static String lease(int node) {
        return "{\"metadata\":{\"name\":\"" + PREFIX + node + "\"}," + renewal().substring(1);
    }

    private static String renewal() {
        return "{\"spec\":{\"holderIdentity\":\"probe\",\"leaseDurationSeconds\":40,\"renewTime\":\""
                + Instant.now().truncatedTo(ChronoUnit.MICROS) + "\"}}";
    }

    @Override
    public void close() throws InterruptedException {
        ended.set(true);
        threads.shutdownNow();
        if (!threads.awaitTermination(Duration.ofSeconds(10).toSeconds(), TimeUnit.SECONDS)) {
            throw new AssertionError("renewals did not end within 10 s");
        }
    }
}
