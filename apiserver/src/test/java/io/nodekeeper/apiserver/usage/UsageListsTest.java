package io.nodekeeper.apiserver.usage;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.apiserver.request.ApiResponse;
import io.nodekeeper.apiserver.testing.TestServer;
import io.nodekeeper.apiserver.testing.TestServer.Answer;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** {@code metrics.k8s.io} from simulated nodes, in virtual time. */
class UsageListsTest {
    private static final String NODES = "/apis/metrics.k8s.io/v1beta1/nodes";
    private static final String PODS = "/apis/metrics.k8s.io/v1beta1/pods";

    private final TestServer server = new TestServer();
    private final List<String> asked = new ArrayList<>();
    /** Address → what the node answers; a node that is not here is silent. */
    private final Map<String, CompletableFuture<byte[]>> answers = new HashMap<>();

    @BeforeEach
    void nodes() {
        node("n1", "10.0.0.1");
        server.server.readNodes((call, most) -> {
            asked.add(call.host());
            assertThat(call.target()).isEqualTo("/stats/summary?only_cpu_and_memory=true");
            CompletableFuture<byte[]> answer = answers.get(call.host());
            return answer == null ? new CompletableFuture<>() : answer.copy();
        });
    }

    @Test
    void theUsageOfANodeIsWhatItSays() {
        answers.put(
                "10.0.0.1",
                summary(node("2026-01-01T00:00:00Z", 5_000_000_000L, "\"usageNanoCores\":250000000,", 2_097_152)));

        Answer answer = get(NODES);

        assertThat(answer.json().text("kind")).isEqualTo("NodeMetricsList");
        assertThat(answer.json().text("apiVersion")).isEqualTo("metrics.k8s.io/v1beta1");
        assertThat(answer.json().array("items").objects().toList()).hasSize(1);
        var item = answer.json().array("items").objects().findFirst().orElseThrow();
        assertThat(item.object("metadata").text("name")).isEqualTo("n1");
        assertThat(item.object("usage")).hasToString("{\"cpu\":\"250000000n\",\"memory\":\"2048Ki\"}");
        assertThat(item.text("timestamp")).isEqualTo("2026-01-01T00:00:00Z");
        assertThat(item.text("window")).isEqualTo("10s");
        assertThat(get(NODES + "/n1").json().text("kind")).isEqualTo("NodeMetrics");
        assertThat(asked).as("15 s have not passed").hasSize(1);
    }

    @Test
    void aNodeWithoutARateIsAskedASecondTime() {
        answers.put("10.0.0.1", summary(node("2026-01-01T00:00:00Z", 5_000_000_000L, "", 1_048_576)));
        CompletableFuture<ApiResponse> answer = server.send(TestServer.ADMIN, "GET", NODES, Map.of(), "");
        server.time.advance(Duration.ofSeconds(4));
        assertThat(answer).isNotDone();
        answers.put("10.0.0.1", summary(node("2026-01-01T00:00:05Z", 7_500_000_000L, "", 1_048_576)));
        server.time.advance(Duration.ofSeconds(2));

        assertThat(answer).isDone();
        var item = TestServer.answer(answer)
                .json()
                .array("items")
                .objects()
                .findFirst()
                .orElseThrow();
        assertThat(item.object("usage").text("cpu")).isEqualTo("500000000n");
        assertThat(item.text("window")).isEqualTo("5s");
    }

    @Test
    void laterRatesAreBetweenTwoAnswers() {
        answers.put(
                "10.0.0.1", summary(node("2026-01-01T00:00:00Z", 5_000_000_000L, "\"usageNanoCores\":1,", 1_048_576)));
        get(NODES);
        server.time.advance(Duration.ofSeconds(16));
        answers.put(
                "10.0.0.1", summary(node("2026-01-01T00:00:16Z", 9_000_000_000L, "\"usageNanoCores\":1,", 1_048_576)));

        var item = get(NODES + "/n1").json();

        assertThat(item.object("usage").text("cpu")).isEqualTo("250000000n");
        assertThat(item.text("window")).isEqualTo("16s");
    }

    @Test
    void aSilentNodeDelaysTheAnswerOnceAndIsLeftOut() {
        node("n2", "10.0.0.2");
        answers.put("10.0.0.1", summary(node("2026-01-01T00:00:00Z", 1, "\"usageNanoCores\":1,", 1_048_576)));
        CompletableFuture<ApiResponse> first = server.send(TestServer.ADMIN, "GET", NODES, Map.of(), "");
        server.time.advance(Duration.ofMillis(2_400));
        assertThat(first).isNotDone();
        server.time.advance(Duration.ofMillis(200));
        assertThat(TestServer.answer(first).names()).containsExactly("n1");

        assertThat(get(NODES).names()).containsExactly("n1");
        server.time.advance(Duration.ofSeconds(16));
        CompletableFuture<ApiResponse> later = server.send(TestServer.ADMIN, "GET", NODES, Map.of(), "");
        server.settle();
        assertThat(later).as("nobody waits for a node that was silent").isDone();
        assertThat(asked).containsExactly("10.0.0.1", "10.0.0.2", "10.0.0.1", "10.0.0.2");
        assertThat(get(NODES + "/n2").status()).isEqualTo(404);

        server.time.advance(Duration.ofSeconds(20));
        answers.put("10.0.0.2", summary(node("2026-01-01T00:00:00Z", 1, "\"usageNanoCores\":1,", 1_048_576)));
        get(NODES);
        assertThat(get(NODES).names()).containsExactly("n1", "n2");
    }

    @Test
    void manySilentNodesLeaveTheirTurnToOthers() {
        for (int i = 0; i < 100; i++) {
            node("s" + i, "10.1.0." + i);
        }
        get(NODES);
        server.time.advance(Duration.ofSeconds(60));
        answers.put("10.0.0.1", summary(node("2026-01-01T00:00:00Z", 1, "\"usageNanoCores\":1,", 1_048_576)));
        get(NODES);
        server.settle();

        assertThat(get(NODES).names()).containsExactly("n1");
    }

    @Test
    void anAnswerThatIsNotASummaryIsUnknown() {
        for (String body :
                List.of("", "[]", "null", "{", "{\"node\":{}}", "{\"node\":{\"memory\":{\"workingSetBytes\":-1}}}")) {
            answers.put("10.0.0.1", CompletableFuture.completedFuture(body.getBytes(StandardCharsets.UTF_8)));
            CompletableFuture<ApiResponse> answer = server.send(TestServer.ADMIN, "GET", NODES, Map.of(), "");
            server.time.advance(Duration.ofSeconds(20));

            assertThat(TestServer.answer(answer).json().array("items").isEmpty())
                    .as(body)
                    .isTrue();
        }
        answers.put("10.0.0.1", CompletableFuture.failedFuture(new IOException("refused")));
        assertThat(get(NODES).status()).isEqualTo(200);
    }

    /** Hundreds of answers may wait for a node, each with the labels. */
    @Test
    void labelsThatNobodyNeedsAreLeftOut() {
        // given nodes with labels of some 14,000 and of some 20,000 characters
        node("n2", "10.0.0.2");
        labels("n1", 200);
        labels("n2", 300);
        answers.put("10.0.0.1", summary(node("2026-01-01T00:00:00Z", 1, "\"usageNanoCores\":1,", 1_048_576)));
        answers.put("10.0.0.2", summary(node("2026-01-01T00:00:00Z", 1, "\"usageNanoCores\":1,", 1_048_576)));

        // then only the first one's are shown, and both can be selected
        assertThat(get(NODES + "/n1").json().object("metadata").object("labels").texts())
                .hasSizeGreaterThan(199);
        assertThat(get(NODES + "/n2").json().object("metadata").has("labels")).isFalse();
        assertThat(get(NODES + "?labelSelector=label-007").names()).containsExactly("n1", "n2");
    }

    /** Each label has 70 characters. */
    private void labels(String node, int count) {
        StringBuilder labels = new StringBuilder();
        for (int i = 0; i < count; i++) {
            labels.append(i == 0 ? "" : ",").append("\"label-%03d\":\"%s\"".formatted(i, "v".repeat(61)));
        }
        Answer answer =
                server.patch(TestServer.MERGE, "/api/v1/nodes/" + node, "{\"metadata\":{\"labels\":{" + labels + "}}}");
        assertThat(answer.status()).as(answer.text()).isEqualTo(200);
    }

    /** One list examines a megabyte of pods in a turn. */
    @Test
    void listOfManyPodsHasAllOfThem() {
        for (int i = 0; i < 40; i++) {
            server.post(
                    "/api/v1/namespaces/default/pods",
                    TestServer.pod("large-%02d".formatted(i), "n1")
                            .replaceFirst(
                                    "\\{\"metadata\":\\{",
                                    "{\"metadata\":{\"annotations\":{\"a\":\"" + "x".repeat(100_000) + "\"},"));
        }
        String uid = running("web", "n1", "app: shop");
        answers.put(
                "10.0.0.1",
                summary("{\"node\":" + stats("2026-01-01T00:00:00Z", 1, "\"usageNanoCores\":1,", 1) + ",\"pods\":["
                        + "{\"podRef\":{\"name\":\"web\",\"namespace\":\"default\",\"uid\":\"" + uid
                        + "\"},\"containers\":[" + container("a", 100_000_000, 1 << 20) + "]}]}"));

        assertThat(get(PODS).names()).containsExactly("web");
    }

    @Test
    void podsHaveTheUsageOfTheirContainers() {
        String uid = running("web", "n1", "app: shop");
        running("other", "n1", "app: x");
        server.post("/api/v1/namespaces/default/pods", TestServer.pod("waiting", ""));
        answers.put(
                "10.0.0.1",
                summary("{\"node\":" + stats("2026-01-01T00:00:00Z", 1, "\"usageNanoCores\":1,", 1) + ",\"pods\":["
                        + "{\"podRef\":{\"name\":\"web\",\"namespace\":\"default\",\"uid\":\"" + uid
                        + "\"},\"containers\":["
                        + container("a", 100_000_000, 1 << 20) + "," + container("b", 50_000_000, 3 << 20) + "]},"
                        + "{\"podRef\":{\"name\":\"other\",\"namespace\":\"default\",\"uid\":\"that of an older pod\"},\"containers\":["
                        + container("a", 7, 7) + "]}]}"));

        Answer all = get("/apis/metrics.k8s.io/v1beta1/namespaces/default/pods");

        assertThat(all.names()).containsExactly("web");
        var item = all.json().array("items").objects().findFirst().orElseThrow();
        assertThat(item.object("metadata").object("labels").texts()).containsEntry("app", "shop");
        assertThat(item.array("containers"))
                .hasToString("[{\"name\":\"a\",\"usage\":{\"cpu\":\"100000000n\",\"memory\":\"1024Ki\"}},"
                        + "{\"name\":\"b\",\"usage\":{\"cpu\":\"50000000n\",\"memory\":\"3072Ki\"}}]");
        assertThat(get(PODS + "?labelSelector=app%3Dshop").names()).containsExactly("web");
        assertThat(get(PODS + "?labelSelector=app%3Dx").names()).isEmpty();
        assertThat(get(PODS + "?fieldSelector=metadata.name%3Dother").names()).isEmpty();
        assertThat(get("/apis/metrics.k8s.io/v1beta1/namespaces/default/pods/other")
                        .status())
                .isEqualTo(404);
        Answer table = server.ask(
                TestServer.ADMIN, "GET", PODS, Map.of("accept", "application/json;as=Table;v=v1;g=meta.k8s.io"), "");
        assertThat(table.json()
                        .array("rows")
                        .objects()
                        .findFirst()
                        .orElseThrow()
                        .array("cells"))
                .hasToString("[\"web\",\"150000000n\",\"4096Ki\",\"10s\"]");
    }

    @Test
    void onlyWhoMayReadThemReadsThem() {
        assertThat(server.ask(TestServer.ALICE, "GET", NODES, "").message())
                .contains("cannot list resource \"nodes\" in API group \"metrics.k8s.io\"");
        assertThat(server.post(NODES, "{}").status()).isEqualTo(405);
        assertThat(server.get(NODES + "?watch=true").status()).isEqualTo(405);
        assertThat(asked).isEmpty();
    }

    private Answer get(String uri) {
        CompletableFuture<ApiResponse> answer = server.send(TestServer.ADMIN, "GET", uri, Map.of(), "");
        server.settle();
        if (!answer.isDone()) {
            server.time.advance(NodeUsage.PATIENCE);
        }
        return TestServer.answer(answer);
    }

    private void node(String name, String address) {
        server.node(name);
        server.patch(
                TestServer.MERGE,
                "/api/v1/nodes/" + name + "/status",
                "{\"status\":{\"addresses\":[{\"type\":\"InternalIP\",\"address\":\"" + address + "\"}]}}");
    }

    private String running(String name, String node, String label) {
        String[] pair = label.split(": ", -1);
        server.post(
                "/api/v1/namespaces/default/pods",
                "{\"metadata\":{\"name\":\"" + name + "\",\"labels\":{\"" + pair[0] + "\":\"" + pair[1]
                        + "\"}},\"spec\":{\"nodeName\":\"" + node
                        + "\",\"containers\":[{\"name\":\"a\",\"image\":\"i\"},{\"name\":\"b\",\"image\":\"i\"}]}}");
        return server.patch(
                        TestServer.MERGE,
                        "/api/v1/namespaces/default/pods/" + name + "/status",
                        "{\"status\":{\"phase\":\"Running\"}}")
                .json()
                .object("metadata")
                .text("uid");
    }

    private static String container(String name, long rate, long memory) {
        return "{\"name\":\"" + name + "\","
                + stats("2026-01-01T00:00:00Z", 1, "\"usageNanoCores\":" + rate + ",", memory)
                        .substring(1);
    }

    private static String node(String time, long cpu, String rate, long memory) {
        return "{\"node\":" + stats(time, cpu, rate, memory) + "}";
    }

    private static String stats(String time, long cpu, String rate, long memory) {
        return "{\"cpu\":{\"time\":\"" + time + "\"," + rate + "\"usageCoreNanoSeconds\":" + cpu
                + "},\"memory\":{\"time\":\"" + time + "\",\"workingSetBytes\":" + memory + "}}";
    }

    private static CompletableFuture<byte[]> summary(String json) {
        return CompletableFuture.completedFuture(json.getBytes(StandardCharsets.UTF_8));
    }
}
