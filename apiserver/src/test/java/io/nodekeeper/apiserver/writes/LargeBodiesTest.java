package io.nodekeeper.apiserver.writes;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.apiserver.ApiServer;
import io.nodekeeper.apiserver.authentication.Authenticator;
import io.nodekeeper.apiserver.request.ApiResponse;
import io.nodekeeper.apiserver.request.User;
import io.nodekeeper.apiserver.testing.TestServer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Large bodies are read on workers, fairly among users. */
@Tag("W86")
class LargeBodiesTest {
    private static final String NODES = "/api/v1/nodes";
    private static final String PODS = "/api/v1/namespaces/default/pods";
    private static final String YAML = "application/yaml";
    private static final User BOB = User.authenticated("bob", List.of("system:masters"));

    private final TestServer cluster = new TestServer();
    /** The tasks of the workers. */
    private final ArrayDeque<Runnable> threads = new ArrayDeque<>();

    private final ApiServer server = cluster.another(cluster.store, new Authenticator(Map.of()), threads::add);

    @BeforeEach
    void start() {
        server.start(Duration.ofHours(1));
        cluster.settle();
        // Roles are aggregated by a worker.
        runThreads();
    }

    private CompletableFuture<ApiResponse> send(User user, String method, String uri, String type, String body) {
        return server.handle(TestServer.request(
                user, method, uri, Map.of("content-type", type), body.getBytes(StandardCharsets.UTF_8)));
    }

    private static String node(String name, int padding) {
        return "{\"metadata\":{\"name\":\"" + name + "\",\"annotations\":{\"a\":\"" + "x".repeat(padding) + "\"}}}";
    }

    private void runThreads() {
        while (!threads.isEmpty()) {
            threads.remove().run();
            cluster.settle();
        }
    }

    @Test
    void onlyLargeBodiesAreReadOnWorkers() {
        // when bodies of 100 bytes and of 20 KB arrive
        CompletableFuture<ApiResponse> small = send(TestServer.ADMIN, "POST", NODES, "application/json", node("s", 0));
        CompletableFuture<ApiResponse> large =
                send(TestServer.ADMIN, "POST", NODES, "application/json", node("l", 20_000));
        cluster.settle();

        // then the small one is answered at once, the large one when a worker has run
        assertThat(TestServer.answer(small).status()).isEqualTo(201);
        assertThat(large).isNotDone();
        runThreads();
        assertThat(TestServer.answer(large).status()).isEqualTo(201);
    }

    @Test
    void smallPatchOfALargeObjectRunsOnAWorker() {
        // given an object of 20 KB
        send(TestServer.ADMIN, "POST", NODES, "application/json", node("l", 20_000));
        runThreads();

        // when a patch of a few bytes arrives
        CompletableFuture<ApiResponse> patched = send(
                TestServer.ADMIN, "PATCH", NODES + "/l", TestServer.MERGE, "{\"metadata\":{\"labels\":{\"a\":\"b\"}}}");
        cluster.settle();

        // then it waits for a worker, because the whole object has to be read
        assertThat(patched).isNotDone();
        runThreads();
        assertThat(TestServer.answer(patched).status()).isEqualTo(200);
    }

    @Test
    void smallPodWithALargeServiceAccountIsMadeOnAWorker() {
        // given an account with 30 KB of names
        String names = IntStream.range(0, 1_500)
                .mapToObj(i -> "{\"name\":\"s" + i + "\"}")
                .collect(Collectors.joining(",", "[", "]"));
        cluster.post(
                "/api/v1/namespaces/default/serviceaccounts",
                "{\"metadata\":{\"name\":\"large\"},\"imagePullSecrets\":" + names + "}");
        String pod = "{\"metadata\":{\"name\":\"p\"},\"spec\":{%s\"containers\":[{\"name\":\"c\",\"image\":\"i\"}]}}";

        // when a pod of a few bytes names it, and another one does not
        CompletableFuture<ApiResponse> large = send(
                TestServer.ADMIN, "POST", PODS, "application/json", pod.formatted("\"serviceAccountName\":\"large\","));
        CompletableFuture<ApiResponse> small =
                send(TestServer.ADMIN, "POST", PODS + "?dryRun=All", "application/json", pod.formatted(""));
        cluster.settle();

        // then it waits for a worker, because the whole account has to be read
        assertThat(small).isDone();
        assertThat(large).isNotDone();
        runThreads();
        assertThat(TestServer.answer(large)
                        .json()
                        .object("spec")
                        .array("imagePullSecrets")
                        .objects())
                .hasSize(1_500);
    }

    @ParameterizedTest
    @CsvSource({"40, 0", "3, 20000", "100, 20000"})
    void anEvictionReadsManyOrLargeBudgetsOnWorkers(int count, int padding) {
        // given a running pod, and budgets in its namespace, of which the last one is the pod's
        cluster.post(PODS, TestServer.pod("p", "n1"));
        cluster.patch(TestServer.MERGE, PODS + "/p", "{\"metadata\":{\"labels\":{\"app\":\"last\"}}}");
        cluster.patch(TestServer.MERGE, PODS + "/p/status", "{\"status\":{\"phase\":\"Running\"}}");
        for (int i = 0; i < count; i++) {
            cluster.post("/apis/policy/v1/namespaces/default/poddisruptionbudgets", """
                    {"metadata": {"name": "b%03d", "annotations": {"a": "%s"}},
                     "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": "%s"}}}}
                    """.formatted(
                            i, "x".repeat(padding), i == count - 1 ? "last" : "other"));
        }

        // when the pod is to be evicted
        CompletableFuture<ApiResponse> evicted = send(
                TestServer.ADMIN, "POST", PODS + "/p/eviction", "application/json", "{\"metadata\":{\"name\":\"p\"}}");
        cluster.settle();

        // then it waits for workers, and the last budget decides
        assertThat(evicted).isNotDone();
        runThreads();
        assertThat(TestServer.answer(evicted).message())
                .isEqualTo("Cannot evict pod as it would violate the pod's disruption budget.");
    }

    @Test
    void yamlAbove4KbIsLarge() {
        String yaml = "metadata: {name: y, annotations: {a: " + "x".repeat(5_000) + "}}";
        CompletableFuture<ApiResponse> created = send(TestServer.ADMIN, "POST", NODES, YAML, yaml);
        cluster.settle();
        assertThat(created).isNotDone();
        runThreads();
        assertThat(TestServer.answer(created).status()).isEqualTo(201);
    }

    @Test
    void floodOfOneUserDoesNotDelayAnother() {
        // given 100 large bodies of one user, and then one of another user
        List<CompletableFuture<ApiResponse>> flood = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            flood.add(send(TestServer.ADMIN, "POST", NODES, "application/json", node("f" + i, 20_000)));
        }
        CompletableFuture<ApiResponse> other = send(BOB, "POST", NODES, "application/json", node("b", 20_000));

        // when the workers run three tasks
        List<Integer> doneBefore = new ArrayList<>();
        other.whenComplete((response, error) -> doneBefore.add(
                (int) flood.stream().filter(CompletableFuture::isDone).count()));
        runThreads();

        // then the other user's body is among them
        assertThat(TestServer.answer(other).status()).isEqualTo(201);
        assertThat(doneBefore.getFirst()).isLessThan(3);
        assertThat(flood)
                .allSatisfy(answer -> assertThat(answer.join().status()).isEqualTo(201));
    }

    @Test
    void moreThan200LargeBodiesOfOneUserAreRefused() {
        List<CompletableFuture<ApiResponse>> flood = new ArrayList<>();
        for (int i = 0; i < 201; i++) {
            flood.add(send(TestServer.ADMIN, "POST", NODES, "application/json", node("f" + i, 20_000)));
        }
        assertThat(TestServer.answer(flood.getLast()).status()).isEqualTo(429);
        assertThat(flood.subList(0, 200)).noneMatch(CompletableFuture::isDone);
        runThreads();
        assertThat(flood.subList(0, 200))
                .allSatisfy(answer -> assertThat(answer.join().status()).isEqualTo(201));
    }

    @Test
    void bodyOfAnUnauthorizedUserIsNotRead() {
        // given bodies that are not valid JSON
        for (String type : List.of(YAML, "application/json", "application/vnd.kubernetes.protobuf", "no/type")) {
            // when a user without the right to create nodes sends them, then the refusal needs no worker
            CompletableFuture<ApiResponse> answer =
                    send(TestServer.ALICE, "POST", NODES, type, "x".repeat(100_000) + ": [");
            assertThat(TestServer.answer(answer).status()).as(type).isEqualTo(403);
            assertThat(threads).isEmpty();
        }
        // and the response does not depend on the body
        assertThat(server.permitted(TestServer.request(TestServer.ALICE, "POST", NODES, Map.of(), new byte[0])))
                .isEmpty();
        assertThat(server.permitted(TestServer.request(TestServer.ADMIN, "POST", NODES, Map.of(), new byte[0])))
                .contains("admin");
    }
}
