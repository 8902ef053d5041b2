package io.nodekeeper.apiserver;

import static org.assertj.core.api.Assertions.assertThat;

import io.kubernetes.client.proto.Meta;
import io.kubernetes.client.proto.V1;
import io.kubernetes.client.proto.V1Coordination;
import io.nodekeeper.apiserver.request.ApiRequest;
import io.nodekeeper.apiserver.request.ApiResponse;
import io.nodekeeper.apiserver.testing.Envelopes;
import io.nodekeeper.apiserver.testing.TestServer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Many valid requests with random mutations of paths, queries, headers, JSON, YAML, protobuf and patches.
 * {@code ./test --all} uses 60,000. Use {@code -Dfuzz.inputs=1000000} for a longer run, and {@code -Dfuzz.seed} to
 * repeat a run.
 */
class ManyInputsTest {
    private static final int INPUTS = Integer.getInteger("fuzz.inputs", 20_000);
    private static final long SEED = Long.getLong("fuzz.seed", 1);
    /** The inputs per server. A new server frees the stored objects, and its watches and seats can be checked. */
    private static final int BATCH = 10_000;

    private static final String LEASE = "/apis/coordination.k8s.io/v1/namespaces/default/leases";
    private static final String PROTOBUF = "application/vnd.kubernetes.protobuf";
    private static final List<String> TOKENS = List.of(
            "null",
            "{}",
            "[]",
            "\"",
            "\\u0000",
            "\\ud800",
            "-1",
            "1e400",
            "99999999999999999999",
            "true",
            "/",
            "//",
            "..",
            "%00",
            "%ff",
            "&",
            "=",
            ",",
            ";",
            "\n",
            "$patch",
            "$setElementOrder/conditions",
            "metadata",
            "k8s\0",
            "é",
            "*");

    private record Input(String method, String uri, Map<String, String> headers, byte[] body) {}

    private static final List<Input> CORPUS = List.of(
            get("/api/v1/nodes?limit=1&labelSelector=a%3Db,c!%3Dd&fieldSelector=metadata.name%3Dn1"),
            get("/api/v1/nodes?limit=2&continue=eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6NSwic3RhcnQiOiJhIn0"),
            get("/api/v1/pods?resourceVersion=1&resourceVersionMatch=NotOlderThan"),
            get("/api/v1/nodes?watch=true&timeoutSeconds=1&allowWatchBookmarks=true&resourceVersion=0"),
            get("/api/v1/nodes?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan"),
            get("/apis/events.k8s.io/v1/namespaces/default/events"),
            get("/openapi/v3/api/v1?hash=1"),
            get("/apis?timeout=32s"),
            get("/readyz/ping?verbose&exclude=store"),
            json(
                    "POST",
                    "/api/v1/nodes?fieldValidation=Strict",
                    "{\"metadata\":{\"name\":\"n2\",\"labels\":{\"a\":\"b\"}},"
                            + "\"spec\":{\"taints\":[{\"key\":\"k\",\"effect\":\"NoExecute\"}]},\"status\":{\"capacity\":{\"cpu\":\"4\"}}}"),
            json("PUT", "/api/v1/nodes/n1", "{\"metadata\":{\"name\":\"n1\",\"resourceVersion\":\"5\"},\"spec\":{}}"),
            json(
                    "PUT",
                    LEASE + "/l1",
                    "{\"metadata\":{\"name\":\"l1\"},\"spec\":{\"renewTime\":\"2026-11-21T07:00:00.000000Z\"}}"),
            json("POST", "/api/v1/namespaces/default/pods", TestServer.pod("p1", "n1")),
            json(
                    "POST",
                    "/api/v1/namespaces/default/pods/p1/eviction",
                    "{\"kind\":\"Eviction\",\"apiVersion\":\"policy/v1\","
                            + "\"metadata\":{\"name\":\"p1\"},\"deleteOptions\":{\"gracePeriodSeconds\":1}}"),
            json(
                    "POST",
                    "/apis/authorization.k8s.io/v1/subjectaccessreviews",
                    "{\"spec\":{\"user\":\"a\",\"resourceAttributes\":{\"verb\":\"get\",\"resource\":\"nodes\"}}}"),
            json(
                    "POST",
                    "/apis/rbac.authorization.k8s.io/v1/clusterroles",
                    "{\"metadata\":{\"name\":\"r\"},\"rules\":[{\"apiGroups\":[\"\"],\"resources\":[\"pods\"],\"verbs\":[\"get\"]}]}"),
            json(
                    "DELETE",
                    "/api/v1/nodes/n1",
                    "{\"propagationPolicy\":\"Background\",\"preconditions\":{\"uid\":\"x\"}}"),
            json("DELETE", "/api/v1/namespaces/default/configmaps?labelSelector=a", ""),
            patch(
                    "application/merge-patch+json",
                    "/api/v1/nodes/n1",
                    "{\"metadata\":{\"labels\":{\"a\":null,\"x\":\"y\"}}}"),
            patch(
                    "application/strategic-merge-patch+json",
                    "/api/v1/nodes/n1/status",
                    "{\"status\":{\"$setElementOrder/conditions\":[{\"type\":\"Ready\"}],\"conditions\":[{\"type\":\"Ready\",\"$patch\":\"delete\"}]}}"),
            patch(
                    "application/json-patch+json",
                    "/api/v1/nodes/n1",
                    "[{\"op\":\"add\",\"path\":\"/metadata/labels\",\"value\":{}},{\"op\":\"copy\",\"from\":\"/spec\",\"path\":\"/x\"}]"),
            patch(
                    "application/apply-patch+yaml",
                    "/api/v1/namespaces/default/configmaps/c1?fieldManager=m&force=true",
                    "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  labels: {a: b}\ndata: &d\n  k: v\n"),
            new Input(
                    "POST",
                    "/api/v1/nodes",
                    Map.of("content-type", PROTOBUF),
                    Envelopes.of(
                            "v1",
                            "Node",
                            V1.Node.newBuilder()
                                    .setMetadata(Meta.ObjectMeta.newBuilder()
                                            .setName("n3")
                                            .putLabels("a", "b"))
                                    .setSpec(V1.NodeSpec.newBuilder()
                                            .addTaints(V1.Taint.newBuilder()
                                                    .setKey("k")
                                                    .setEffect("NoSchedule")))
                                    .build())),
            new Input(
                    "PUT",
                    LEASE + "/l2",
                    Map.of("content-type", PROTOBUF, "accept", PROTOBUF + ", */*"),
                    Envelopes.of(
                            "coordination.k8s.io/v1",
                            "Lease",
                            V1Coordination.Lease.newBuilder()
                                    .setMetadata(Meta.ObjectMeta.newBuilder().setName("l2"))
                                    .setSpec(V1Coordination.LeaseSpec.newBuilder()
                                            .setRenewTime(
                                                    Meta.MicroTime.newBuilder().setSeconds(1_763_708_400)))
                                    .build())));

    @Test
    @Tag("W4")
    @Tag("W5")
    @Tag("W36")
    @Tag("W41")
    void brokenRequestsGetResponsesAndLeakNothing() {
        SplittableRandom random = new SplittableRandom(SEED);
        Map<Integer, Integer> answers = new HashMap<>();
        for (int begun = 0; begun < INPUTS; begun += BATCH) {
            TestServer server = new TestServer();
            server.node("n1");
            for (int i = 0; i < Math.min(BATCH, INPUTS - begun); i++) {
                answers.merge(send(server, broken(random)), 1, Integer::sum);
            }
            String metrics = server.get("/metrics").text();
            assertThat(metrics).contains("apiserver_current_inflight_requests{request_kind=\"mutating\"} 0.0");
            assertThat(metrics.lines().filter(line -> line.startsWith("apiserver_longrunning_requests{")))
                    .isNotEmpty()
                    .allMatch(line -> line.endsWith(" 0.0"));
        }
        // Inputs are useful only if the server accepts many of them.
        assertThat(answers).containsKeys(200, 201, 400, 404, 422);
        System.out.println("fuzz: " + INPUTS + " inputs, answers by status: " + answers);
    }

    private static int send(TestServer server, Input input) {
        ApiRequest request;
        try {
            request = TestServer.request(TestServer.ADMIN, input.method, input.uri, input.headers, input.body);
        } catch (IllegalArgumentException e) {
            // Malformed escapes; the transport refuses these.
            return 400;
        }
        CompletableFuture<ApiResponse> response = server.server.handle(request);
        server.settle();
        if (!response.isDone()) {
            server.time.advance(Duration.ofSeconds(4));
        }
        assertThat(response).as("%s", input).isCompleted();
        switch (response.join()) {
            case ApiResponse.Full full ->
                assertThat(full.status() < 500 || full.status() == 504)
                        .as("%s %s %s -> %s", input, input.headers, text(input.body), text(full.body()))
                        .isTrue();
            case ApiResponse.Chunked large -> assertThat(large.whole().status()).isLessThan(500);
            case ApiResponse.Relayed relayed -> {
                relayed.answered().accept(ApiResponse.empty(200));
                relayed.ended().run();
            }
            case ApiResponse.Streamed streamed -> {
                server.read(streamed).leave();
                server.settle();
            }
        }
        return response.join().status();
    }

    private static String text(byte[] bytes) {
        return new String(bytes, StandardCharsets.ISO_8859_1);
    }

    /** A request of the corpus with one to four mutations. */
    private static Input broken(SplittableRandom random) {
        Input input = CORPUS.get(random.nextInt(CORPUS.size()));
        for (int i = random.nextInt(4); i >= 0; i--) {
            input = switch (random.nextInt(8)) {
                case 0 -> new Input(input.method, changed(random, input.uri), input.headers, input.body);
                case 1 -> {
                    Map<String, String> headers = new HashMap<>(input.headers);
                    String name = random.nextBoolean() ? "accept" : "content-type";
                    headers.put(name, changed(random, headers.getOrDefault(name, "application/json;as=Table;v=v1")));
                    yield new Input(input.method, input.uri, headers, input.body);
                }
                case 2 -> {
                    Input other = CORPUS.get(random.nextInt(CORPUS.size()));
                    yield new Input(input.method, other.uri, input.headers, input.body);
                }
                case 3 -> {
                    Input other = CORPUS.get(random.nextInt(CORPUS.size()));
                    yield new Input(other.method, input.uri, other.headers, input.body);
                }
                default -> new Input(input.method, input.uri, input.headers, changed(random, input.body));
            };
        }
        return input;
    }

    private static String changed(SplittableRandom random, String text) {
        return new String(changed(random, text.getBytes(StandardCharsets.UTF_8)), StandardCharsets.UTF_8);
    }

    private static byte[] changed(SplittableRandom random, byte[] bytes) {
        int at = random.nextInt(bytes.length + 1);
        int until = at + random.nextInt(Math.min(bytes.length - at, 12) + 1);
        byte[] put = switch (random.nextInt(5)) {
            case 0 -> new byte[0];
            case 1 -> new byte[] {(byte) random.nextInt(256)};
            case 2 -> Arrays.copyOfRange(bytes, at, until);
            default -> TOKENS.get(random.nextInt(TOKENS.size())).getBytes(StandardCharsets.UTF_8);
        };
        boolean replaces = random.nextBoolean();
        byte[] changed = new byte[bytes.length - (replaces ? until - at : 0) + put.length];
        System.arraycopy(bytes, 0, changed, 0, at);
        System.arraycopy(put, 0, changed, at, put.length);
        int rest = replaces ? until : at;
        System.arraycopy(bytes, rest, changed, at + put.length, bytes.length - rest);
        return changed;
    }

    private static Input get(String uri) {
        return new Input("GET", uri, Map.of(), new byte[0]);
    }

    private static Input json(String method, String uri, String body) {
        return new Input(
                method, uri, Map.of("content-type", "application/json"), body.getBytes(StandardCharsets.UTF_8));
    }

    private static Input patch(String type, String uri, String body) {
        return new Input("PATCH", uri, Map.of("content-type", type), body.getBytes(StandardCharsets.UTF_8));
    }
}
