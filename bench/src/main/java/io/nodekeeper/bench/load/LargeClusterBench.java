package io.nodekeeper.bench.load;

import io.nodekeeper.client.config.ClientTls;
import io.nodekeeper.client.config.Kubeconfig;
import io.nodekeeper.client.config.ServerAccess;
import io.nodekeeper.time.SystemClock;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Fills a running API server with Nodes of a given size, lists them in several ways and watches them, and prints the
 * server's memory at each step. Arguments: KUBECONFIG PID NODES BYTES.
 */
public final class LargeClusterBench {
    /** Concurrent creations: enough for group commits, and well below the server's own limit. */
    private static final int AT_ONCE = 64;

    private final HttpClient client;
    private final URI server;
    private final long pid;
    private final SystemClock clock = new SystemClock();
    private long peak;

    private LargeClusterBench(ServerAccess access, long pid) throws IOException {
        client = HttpClient.newBuilder()
                .version(HttpClient.Version.HTTP_1_1)
                .sslContext(ClientTls.context(access.identity(), access.authorities()))
                .build();
        server = access.server();
        this.pid = pid;
    }

    /** Runs the measurement. */
    public static void main(String[] args) throws Exception {
        LargeClusterBench bench = new LargeClusterBench(Kubeconfig.load(Path.of(args[0])), Long.parseLong(args[1]));
        int nodes = Integer.parseInt(args[2]);
        int bytes = Integer.parseInt(args[3]);
        bench.report("before", 0);
        bench.create(nodes, bytes);
        bench.read("list", "/api/v1/nodes", "", Long.MAX_VALUE);
        bench.read("list, gzip", "/api/v1/nodes", "gzip", Long.MAX_VALUE);
        bench.together(4);
        bench.pages();
        bench.read(
                "watch list",
                "/api/v1/nodes?watch=1&timeoutSeconds=600&allowWatchBookmarks=true&sendInitialEvents=true"
                        + "&resourceVersionMatch=NotOlderThan",
                "",
                (long) nodes * bytes);
        bench.client.close();
    }

    private void report(String what, long began) throws IOException {
        long resident = ProcessCost.residentBytes(pid);
        peak = Math.max(peak, resident);
        System.out.printf(
                "%-12s %8.1f s, resident %5d MB, peak %5d MB%n",
                what, began == 0 ? 0 : (clock.nanoTime() - began) / 1e9, resident >> 20, peak >> 20);
    }

    private HttpRequest.Builder request(String target) {
        return HttpRequest.newBuilder(server.resolve(target));
    }

    private void create(int nodes, int bytes) throws IOException, InterruptedException {
        long began = clock.nanoTime();
        Semaphore free = new Semaphore(AT_ONCE);
        AtomicInteger created = new AtomicInteger();
        for (int node = 0; node < nodes; node++) {
            free.acquire();
            String body = NodeBody.of("node-" + node, node);
            String fill = "\"bench/fill\":\"" + "x".repeat(Math.max(0, bytes - body.length())) + "\",";
            HttpRequest post = request("/api/v1/nodes")
                    .header("content-type", "application/json")
                    .POST(HttpRequest.BodyPublishers.ofString(
                            body.replace("\"annotations\":{", "\"annotations\":{" + fill)))
                    .build();
            client.sendAsync(post, HttpResponse.BodyHandlers.discarding()).whenComplete((answer, error) -> {
                created.addAndGet(error == null && answer.statusCode() == 201 ? 1 : 0);
                free.release();
            });
            if (node % 10_000 == 9_999) {
                report("at " + (node + 1), began);
            }
        }
        free.acquire(AT_ONCE);
        report("created", began);
        if (created.get() != nodes) {
            throw new IOException("created " + created + " nodes, expected " + nodes);
        }
    }

    /** Reads a response until its end, or until {@code most} bytes. */
    private void read(String what, String target, String encoding, long most) throws IOException, InterruptedException {
        long began = clock.nanoTime();
        HttpRequest.Builder get = request(target).GET();
        if (!encoding.isEmpty()) {
            get.header("accept-encoding", encoding);
        }
        HttpResponse<InputStream> answer = client.send(get.build(), HttpResponse.BodyHandlers.ofInputStream());
        long bytes = 0;
        try (InputStream in = answer.body()) {
            byte[] part = new byte[64 << 10];
            int read;
            long next = 100 << 20;
            while (bytes < most && (read = in.read(part)) >= 0) {
                bytes += read;
                if (bytes > next) {
                    next += 100 << 20;
                    peak = Math.max(peak, ProcessCost.residentBytes(pid));
                }
            }
        }
        report(what, began);
        System.out.println("             status " + answer.statusCode() + ", " + (bytes >> 20) + " MB");
    }

    private void together(int lists) throws IOException, InterruptedException {
        long began = clock.nanoTime();
        List<CompletableFuture<Integer>> all = new ArrayList<>();
        for (int i = 0; i < lists; i++) {
            all.add(client.sendAsync(request("/api/v1/nodes").GET().build(), HttpResponse.BodyHandlers.discarding())
                    .thenApply(HttpResponse::statusCode));
        }
        for (CompletableFuture<Integer> list : all) {
            System.out.println("             status " + list.join());
        }
        report(lists + " lists", began);
    }

    private void pages() throws IOException, InterruptedException {
        long began = clock.nanoTime();
        String token = "";
        int pages = 0;
        do {
            HttpResponse<String> page = client.send(
                    request("/api/v1/nodes?limit=500" + (token.isEmpty() ? "" : "&continue=" + token))
                            .GET()
                            .build(),
                    HttpResponse.BodyHandlers.ofString());
            String head = page.body().substring(0, Math.min(1_000, page.body().length()));
            token = head.contains("\"continue\":\"") ? head.replaceAll("(?s).*?\"continue\":\"([^\"]*)\".*", "$1") : "";
            pages++;
        } while (!token.isEmpty());
        report(pages + " pages", began);
    }
}
