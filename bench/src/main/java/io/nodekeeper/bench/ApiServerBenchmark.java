package io.nodekeeper.bench;

import io.nodekeeper.apiserver.ApiServer;
import io.nodekeeper.apiserver.authentication.Authenticator;
import io.nodekeeper.apiserver.request.ApiRequest;
import io.nodekeeper.apiserver.request.ApiResponse;
import io.nodekeeper.apiserver.request.User;
import io.nodekeeper.store.Journal;
import io.nodekeeper.store.memory.IndexedStore;
import io.nodekeeper.time.Randoms;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/**
 * A lease renewal in the API server's core: from the bytes of the request to those of the response, without network, threads
 * and disk.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Warmup(iterations = 4, time = 3)
@Measurement(iterations = 4, time = 2)
@Fork(1)
public class ApiServerBenchmark {
    private static final int NODES = 10_000;
    private static final String LEASES = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases";
    private static final Optional<User> ADMIN =
            Optional.of(User.authenticated("kubernetes-admin", List.of("system:masters")));

    private static final String UID = "\"uid\":\"";

    /** {@code bytes}: as kubelets renew; {@code tree}: with a parameter that changes nothing but keeps it from the short path. */
    @Param({"bytes", "tree"})
    public String path = "bytes";

    private final long[] versions = new long[NODES];
    private final String[] uids = new String[NODES];
    private ApiServer server;
    private int node;
    private int micros;

    /** A server with a lease for each node. */
    @Setup
    public void fill() {
        BenchLoop loop = new BenchLoop(Instant.parse("2026-01-01T00:00:00Z"));
        IndexedStore store = new IndexedStore(loop, Journal.NONE);
        server = new ApiServer(store, loop, Randoms.seeded(1), new Authenticator(Map.of()), "127.0.0.1:6443");
        server.start(Duration.ofHours(1)).join();
        for (int i = 0; i < NODES; i++) {
            byte[] lease = body(i, "", "2026-01-01T00:00:00.000000Z");
            byte[] answer = ((ApiResponse.Full)
                            server.handle(request("POST", LEASES, lease)).join())
                    .body();
            // In the text, the lease's own UID follows that of its owner.
            String text = new String(answer, StandardCharsets.UTF_8);
            int uid = text.lastIndexOf(UID) + UID.length();
            uids[i] = text.substring(uid, text.indexOf('"', uid));
            versions[i] = version(answer);
        }
    }

    /** One renewal. */
    @Benchmark
    public int renew() {
        int i = node = node + 1 == NODES ? 0 : node + 1;
        micros = micros + 1 == 1_000_000 ? 0 : micros + 1;
        String time =
                "2026-01-01T00:00:00." + Integer.toString(1_000_000 + micros).substring(1) + "Z";
        // As a kubelet, which sends back the object that it got.
        String metadata = ",\"uid\":\"" + uids[i] + "\",\"resourceVersion\":\"" + versions[i]
                + "\",\"creationTimestamp\":\"2026-01-01T00:00:00Z\"";
        ApiResponse.Full answer =
                (ApiResponse.Full) server.handle(request("PUT", LEASES + "/node-" + i, body(i, metadata, time)))
                        .join();
        if (answer.status() != 200) {
            throw new IllegalStateException(new String(answer.body(), StandardCharsets.UTF_8));
        }
        versions[i] = version(answer.body());
        return answer.body().length;
    }

    private static byte[] body(int i, String metadata, String time) {
        return ("{\"kind\":\"Lease\",\"apiVersion\":\"coordination.k8s.io/v1\",\"metadata\":{\"name\":\"node-" + i
                        + "\",\"namespace\":\"kube-node-lease\"" + metadata
                        + ",\"ownerReferences\":[{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"name\":\"node-" + i
                        + "\",\"uid\":\"9f1c6a52-98a1-4b7c-8f3b-5ac0d1f7e6a0\"}]},\"spec\":{\"holderIdentity\":\"node-"
                        + i + "\",\"leaseDurationSeconds\":40,\"renewTime\":\"" + time + "\"}}")
                .getBytes(StandardCharsets.ISO_8859_1);
    }

    private ApiRequest request(String method, String uri, byte[] body) {
        return new ApiRequest(
                method,
                uri,
                path.equals("tree") && method.equals("PUT") ? Map.of("fieldValidation", List.of("Warn")) : Map.of(),
                Map.of("accept", "application/json", "content-type", "application/json", "user-agent", "bench"),
                body,
                ADMIN);
    }

    private static long version(byte[] body) {
        byte[] field = "\"resourceVersion\":\"".getBytes(StandardCharsets.ISO_8859_1);
        for (int at = 0; ; at++) {
            if (Arrays.equals(body, at, at + field.length, field, 0, field.length)) {
                long value = 0;
                for (int i = at + field.length; body[i] != '"'; i++) {
                    value = value * 10 + body[i] - '0';
                }
                return value;
            }
        }
    }
}
