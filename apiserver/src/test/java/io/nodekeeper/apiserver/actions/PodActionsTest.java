package io.nodekeeper.apiserver.actions;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.apiserver.request.ApiResponse;
import io.nodekeeper.apiserver.testing.TestServer;
import io.nodekeeper.apiserver.testing.TestServer.Answer;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Evictions, bindings and updates of pods. */
class PodActionsTest {
    private static final String PODS = "/api/v1/namespaces/default/pods";
    private static final String BUDGETS = "/apis/policy/v1/namespaces/default/poddisruptionbudgets";
    private static final String DONE =
            "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},\"status\":\"Success\",\"code\":201}";

    private final TestServer server = new TestServer();

    @BeforeEach
    void aRunningPod() {
        server.post(PODS, TestServer.pod("p1", "n1"));
        server.patch(TestServer.MERGE, PODS + "/p1", "{\"metadata\":{\"labels\":{\"app\":\"a\"}}}");
        server.patch(
                TestServer.MERGE,
                PODS + "/p1/status",
                "{\"status\":{\"phase\":\"Running\",\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\"}]}}");
    }

    private Answer evict(String options) {
        return server.post(
                PODS + "/p1/eviction",
                "{\"kind\":\"Eviction\",\"apiVersion\":\"policy/v1\",\"metadata\":{\"name\":\"p1\",\"namespace\":\"default\","
                        + "\"creationTimestamp\":null},\"deleteOptions\":" + options + "}");
    }

    private JsonObject pod() {
        return server.get(PODS + "/p1").json();
    }

    private void budget(String status) {
        server.post(
                BUDGETS,
                "{\"metadata\":{\"name\":\"b\"},\"spec\":{\"minAvailable\":1,\"selector\":{\"matchLabels\":{\"app\":\"a\"}}}}");
        Answer answer = server.patch(TestServer.MERGE, BUDGETS + "/b/status", "{\"status\":" + status + "}");
        assertThat(answer.status()).as(answer.text()).isEqualTo(200);
    }

    @ParameterizedTest
    @Tag("W47")
    @ValueSource(strings = {"policy/v1", "policy/v1beta1"})
    void evictedPodGetsItsGracePeriod(String version) {
        Answer answer = server.post(
                PODS + "/p1/eviction",
                "{\"kind\":\"Eviction\",\"apiVersion\":\"" + version + "\",\"metadata\":{\"name\":\"p1\"}}");
        assertThat(answer.status()).isEqualTo(201);
        assertThat(answer.text()).isEqualTo(DONE);
        assertThat(pod().object("metadata").text("deletionTimestamp")).isEqualTo("2026-11-21T07:00:30Z");
    }

    /** A Job whose policy ignores disruptions does not count its end as a failure. */
    @Test
    void evictedPodIsTheTargetOfADisruption() {
        evict("{\"dryRun\":[\"All\"]}");
        assertThat(pod().object("status").array("conditions").objects().map(one -> one.text("type")))
                .containsExactly("Ready");

        evict("{}");

        assertThat(pod().object("status").array("conditions").objects().toList().getLast())
                .hasToString(
                        "{\"type\":\"DisruptionTarget\",\"status\":\"True\",\"lastTransitionTime\":\"2026-11-21T07:00:00Z\","
                                + "\"reason\":\"EvictionByEvictionAPI\",\"message\":\"Eviction API: evicting\"}");
    }

    @Test
    @Tag("W47")
    void evictionOfATerminatingPodLeavesItsEndAsItIs() {
        evict("{\"gracePeriodSeconds\":40}");
        server.time.advance(Duration.ofSeconds(10));

        assertThat(evict("{}").text()).isEqualTo(DONE);

        assertThat(pod().object("metadata").text("deletionTimestamp")).isEqualTo("2026-11-21T07:00:40Z");
    }

    @Test
    @Tag("W47")
    void evictionAcceptsDeleteOptions() {
        assertThat(evict("{\"dryRun\":[\"All\"]}").status()).isEqualTo(201);
        assertThat(pod().object("metadata").has("deletionTimestamp")).isFalse();
        assertThat(evict("{\"preconditions\":{\"uid\":\"other\"}}").status()).isEqualTo(409);
        assertThat(pod().object("metadata").has("deletionTimestamp")).isFalse();
        assertThat(evict("{\"gracePeriodSeconds\":0}").text()).isEqualTo(DONE);
        assertThat(server.get(PODS + "/p1").status()).isEqualTo(404);
        assertThat(evict("{}").message()).isEqualTo("pods \"p1\" not found");
    }

    @Test
    @Tag("W47")
    void otherKindsThanEvictionAreRefused() {
        assertThat(server.post(PODS + "/p1/eviction", "{\"kind\":\"Binding\",\"apiVersion\":\"v1\"}")
                        .status())
                .isEqualTo(400);
        assertThat(server.post(PODS + "/p1/eviction", "{\"metadata\":{\"name\":\"p2\"}}")
                        .status())
                .isEqualTo(400);
        assertThat(server.get(PODS + "/p1/eviction").status()).isEqualTo(405);
        assertThat(pod().object("metadata").has("deletionTimestamp")).isFalse();
    }

    @Test
    @Tag("W47")
    void discoveryHasTheGroupAndVersionOfEvictions() {
        assertThat(server.get("/api/v1").text())
                .contains("{\"name\":\"pods/eviction\",\"singularName\":\"\",\"namespaced\":true,\"group\":\"policy\","
                        + "\"version\":\"v1\",\"kind\":\"Eviction\",\"verbs\":[\"create\"]}")
                .contains("{\"name\":\"pods/binding\",\"singularName\":\"\",\"namespaced\":true,\"kind\":\"Binding\","
                        + "\"verbs\":[\"create\"]}");
    }

    @Test
    @Tag("W47")
    void exhaustedBudgetRefusesTheEviction() {
        budget("{\"observedGeneration\":1,\"disruptionsAllowed\":0,\"currentHealthy\":1,\"desiredHealthy\":1}");
        Answer refused = evict("{}");
        assertThat(refused.status()).isEqualTo(429);
        assertThat(refused.json())
                .hasToString(
                        "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},\"status\":\"Failure\",\"message\":\"Cannot evict pod as it would violate the pod's disruption budget.\",\"reason\":\"TooManyRequests\",\"details\":{\"causes\":[{\"reason\":\"DisruptionBudget\",\"message\":\"The disruption budget b needs 1 healthy pods and has 1 currently\"}]},\"code\":429}");
        assertThat(pod().object("metadata").has("deletionTimestamp")).isFalse();
        // The budget does not apply to a plain deletion.
        assertThat(server.delete(PODS + "/p1", "").status()).isEqualTo(200);
    }

    @Test
    @Tag("W47")
    void budgetAllowsEachDisruptionOnce() {
        budget("{\"observedGeneration\":1,\"disruptionsAllowed\":1,\"currentHealthy\":2,\"desiredHealthy\":1}");
        server.post(
                PODS,
                TestServer.pod("p2", "n1").replace("\"name\":\"p2\"", "\"name\":\"p2\",\"labels\":{\"app\":\"a\"}"));
        server.patch(
                TestServer.MERGE,
                PODS + "/p2/status",
                "{\"status\":{\"phase\":\"Running\",\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\"}]}}");
        assertThat(evict("{\"dryRun\":[\"All\"]}").status()).isEqualTo(201);
        assertThat(evict("{}").status()).isEqualTo(201);
        JsonObject status = server.get(BUDGETS + "/b").json().object("status");
        assertThat(status.number("disruptionsAllowed")).contains(0L);
        assertThat(status.object("disruptedPods")).hasToString("{\"p1\":\"2026-11-21T07:00:00Z\"}");
        assertThat(server.post(PODS + "/p2/eviction", "{}").status()).isEqualTo(429);
    }

    /** The answer to an eviction of p2 that begins before a change of its status is stored. */
    private Answer evictWhileItChanges(String status) {
        CompletableFuture<ApiResponse> changed = server.send(
                TestServer.ADMIN, "PATCH", PODS + "/p2/status", Map.of("content-type", TestServer.MERGE), status);
        CompletableFuture<ApiResponse> evicted =
                server.send(TestServer.ADMIN, "POST", PODS + "/p2/eviction", Map.of(), "{}");
        server.settle();
        assertThat(TestServer.answer(changed).status()).isEqualTo(200);
        return TestServer.answer(evicted);
    }

    /** Its budget does not count a pod that is pending or not ready, until it is ready. */
    @ParameterizedTest
    @Tag("W47")
    @ValueSource(strings = {"{\"phase\":\"Pending\"}", "{\"phase\":\"Running\"}"})
    void podThatBecomesReadyMeanwhileIsCountedByItsBudget(String before) {
        budget("{\"observedGeneration\":1,\"disruptionsAllowed\":0,\"currentHealthy\":1,\"desiredHealthy\":1}");
        server.post(
                PODS,
                TestServer.pod("p2", "n1").replace("\"name\":\"p2\"", "\"name\":\"p2\",\"labels\":{\"app\":\"a\"}"));
        server.patch(TestServer.MERGE, PODS + "/p2/status", "{\"status\":" + before + "}");

        Answer evicted = evictWhileItChanges(
                "{\"status\":{\"phase\":\"Running\",\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\"}]}}");

        assertThat(evicted.status()).isEqualTo(429);
        assertThat(server.get(PODS + "/p2").json().object("metadata").has("deletionTimestamp"))
                .isFalse();
    }

    @Test
    @Tag("W47")
    void podThatChangesButIsStillPendingIsEvicted() {
        server.post(PODS, TestServer.pod("p2", "n1"));

        Answer evicted = evictWhileItChanges("{\"status\":{\"phase\":\"Pending\",\"reason\":\"x\"}}");

        assertThat(evicted.status()).isEqualTo(201);
        assertThat(server.get(PODS + "/p2").json().object("metadata").has("deletionTimestamp"))
                .isTrue();
    }

    @Test
    @Tag("W47")
    void budgetWithoutAStatusAsksTheClientToRetry() {
        server.post(
                BUDGETS,
                "{\"metadata\":{\"name\":\"b\"},\"spec\":{\"minAvailable\":1,\"selector\":{\"matchLabels\":{\"app\":\"a\"}}}}");
        Answer refused = evict("{}");
        assertThat(refused.status()).isEqualTo(429);
        assertThat(refused.headers()).containsEntry("retry-after", "10");
        assertThat(refused.text()).contains("The disruption budget b is still being processed by the server.");
    }

    @ParameterizedTest
    @Tag("W49")
    @ValueSource(strings = {PODS + "/free/binding", "/api/v1/namespaces/default/bindings"})
    void bindingAssignsAPodOnce(String path) {
        server.post(PODS, TestServer.pod("free", ""));
        String body =
                "{\"kind\":\"Binding\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"free\"},\"target\":{\"kind\":\"Node\",\"name\":\"n1\"}}";
        Answer bound = server.post(path, body);
        assertThat(bound.text()).isEqualTo(DONE);
        JsonObject pod = server.get(PODS + "/free").json();
        assertThat(pod.object("spec").text("nodeName")).isEqualTo("n1");
        assertThat(pod.object("status").array("conditions"))
                .hasToString(
                        "[{\"type\":\"PodScheduled\",\"status\":\"True\",\"lastTransitionTime\":\"2026-11-21T07:00:00Z\"}]");
        Answer again = server.post(path, body);
        assertThat(again.status()).isEqualTo(409);
        assertThat(again.message())
                .isEqualTo(
                        "Operation cannot be fulfilled on pods/binding \"free\": pod free is already assigned to node \"n1\"");
    }

    @ParameterizedTest
    @ValueSource(ints = {254, 1_400_000})
    void bindingToANameThatNoNodeCanHaveIsRefused(int length) {
        server.post(PODS, TestServer.pod("free", ""));

        Answer refused = server.post(
                PODS + "/free/binding", "{\"target\":{\"kind\":\"Node\",\"name\":\"" + "x".repeat(length) + "\"}}");

        assertThat(refused.status()).isEqualTo(422);
        assertThat(refused.message()).contains("target.name: Invalid value: ").hasSizeLessThan(20_000);
        assertThat(server.get(PODS + "/free").json().object("spec").has("nodeName"))
                .isFalse();
    }

    @Test
    @Tag("W49")
    void bindingKeepsToTheGatesOfThePodAndToTheVersionThatItNames() {
        server.post(
                PODS,
                "{\"metadata\":{\"name\":\"gated\"},\"spec\":{\"schedulingGates\":[{\"name\":\"a.b/c\"}],"
                        + "\"containers\":[{\"name\":\"c\",\"image\":\"i\"}]}}");
        server.post(PODS, TestServer.pod("free", ""));
        String version = server.get(PODS + "/free").version();
        String binding = "{\"metadata\":{\"name\":\"%s\",\"resourceVersion\":\"%s\"},\"target\":{\"name\":\"n1\"}}";

        Answer gated = server.post(PODS + "/gated/binding", binding.formatted("gated", ""));
        assertThat(gated.status()).isEqualTo(409);
        assertThat(gated.message()).endsWith("pod gated has non-empty .spec.schedulingGates");
        Answer old = server.post(PODS + "/free/binding", binding.formatted("free", "1"));
        assertThat(old.status()).isEqualTo(409);
        assertThat(old.message())
                .endsWith("Precondition failed: ResourceVersion in precondition: 1, ResourceVersion in object meta: "
                        + version);

        assertThat(server.post(PODS + "/free/binding", binding.formatted("free", version))
                        .status())
                .isEqualTo(201);
    }

    /** The server charges the budget, and its controller counts the pods. */
    @Test
    void budgetIsNotReplacedByAClientThatDoesNotKnowItsVersion() {
        budget("{\"observedGeneration\":1,\"disruptionsAllowed\":1,\"currentHealthy\":2,\"desiredHealthy\":1}");
        JsonObject read = server.get(BUDGETS + "/b").json();
        evict("{}");

        Answer refused = server.put(
                BUDGETS + "/b/status",
                read.update("metadata", metadata -> metadata.without("resourceVersion"))
                        .toString());

        assertThat(refused.status()).isEqualTo(422);
        assertThat(refused.message())
                .contains("metadata.resourceVersion: Invalid value: 0x0: must be specified for an update");
        assertThat(server.get(BUDGETS + "/b").json().object("status").number("disruptionsAllowed"))
                .contains(0L);
    }

    @Test
    @Tag("W49")
    void bindingNeedsAPodAndANode() {
        server.post(PODS, TestServer.pod("free", ""));
        assertThat(server.post(PODS + "/free/binding", "{\"target\":{\"kind\":\"Node\"}}")
                        .status())
                .isEqualTo(422);
        assertThat(server.post(PODS + "/gone/binding", "{\"target\":{\"name\":\"n1\"}}")
                        .message())
                .isEqualTo("pods \"gone\" not found");
        assertThat(server.post(PODS + "/free/binding", "{\"target\":{\"kind\":\"Pod\",\"name\":\"n1\"}}")
                        .status())
                .isEqualTo(422);
    }

    @Test
    void immutableFieldsOfAPodCannotChange() {
        assertThat(server.patch(
                                TestServer.STRATEGIC,
                                PODS + "/p1",
                                "{\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":\"other\"}],\"activeDeadlineSeconds\":5}}")
                        .status())
                .isEqualTo(200);
        Answer refused = server.patch(TestServer.STRATEGIC, PODS + "/p1", "{\"spec\":{\"restartPolicy\":\"Never\"}}");
        assertThat(refused.status()).isEqualTo(422);
        assertThat(refused.message())
                .startsWith("Pod \"p1\" is invalid: spec: Forbidden: pod updates may not change fields other than");
        assertThat(server.patch(TestServer.MERGE, PODS + "/p1", "{\"spec\":{\"tolerations\":[]}}")
                        .status())
                .isEqualTo(200);
        assertThat(pod().object("spec").array("tolerations").items()).hasSize(2);
        assertThat(server.patch(
                                TestServer.MERGE,
                                PODS + "/p1",
                                "{\"spec\":{\"tolerations\":[{\"key\":\"node.kubernetes.io/not-ready\",\"effect\":\"NoExecute\"}]}}")
                        .status())
                .isEqualTo(422);
    }

    @Test
    @Tag("W25")
    void newPodGetsDefaults() {
        JsonObject spec = pod().object("spec");
        assertThat(spec.text("restartPolicy")).isEqualTo("Always");
        assertThat(spec.text("dnsPolicy")).isEqualTo("ClusterFirst");
        assertThat(spec.text("schedulerName")).isEqualTo("default-scheduler");
        assertThat(spec.get("securityContext")).contains(JsonObject.EMPTY);
        assertThat(spec.bool("enableServiceLinks")).isTrue();
        assertThat(spec.text("preemptionPolicy")).isEqualTo("PreemptLowerPriority");
        assertThat(spec.number("priority")).contains(0L);
        JsonObject container = spec.array("containers").objects().findFirst().orElseThrow();
        assertThat(container)
                .hasToString(
                        "{\"name\":\"c\",\"image\":\"i\",\"resources\":{},\"terminationMessagePath\":\"/dev/termination-log\",\"terminationMessagePolicy\":\"File\",\"imagePullPolicy\":\"Always\"}");
        assertThat(pod().object("status").text("qosClass")).isEqualTo("BestEffort");
    }

    @Test
    @Tag("W50")
    void namespaceIsFinalizedOnlyByItsSubresource() {
        String path = "/api/v1/namespaces/held";
        server.post("/api/v1/namespaces", "{\"metadata\":{\"name\":\"held\"}}");
        server.patch(TestServer.MERGE, path, "{\"spec\":{\"finalizers\":[]}}");
        assertThat(server.get(path).json().object("spec").array("finalizers").strings())
                .containsExactly("kubernetes");
        Answer held = server.put(
                path + "/finalize",
                "{\"metadata\":{\"name\":\"held\"},\"spec\":{\"finalizers\":[\"kubernetes\",\"x.y/z\"]}}");
        assertThat(held.status()).as(held.text()).isEqualTo(200);
        server.delete(path, "");
        assertThat(server.get(path).json().object("status").text("phase")).isEqualTo("Terminating");
        server.put(path + "/finalize", "{\"metadata\":{\"name\":\"held\"},\"spec\":{\"finalizers\":[]}}");
        assertThat(server.get(path).status()).isEqualTo(404);
    }

    private static String json(String text) {
        return text.replace('\'', '"');
    }

    @Test
    void podIsUpdatedByAClientThatLeavesOutWhatIsFalseOrEmpty() {
        // given
        Answer created = server.post(
                PODS,
                json("{'metadata':{'name':'p2'},'spec':{'hostNetwork':false,'nodeSelector':{},"
                        + "'automountServiceAccountToken':false,"
                        + "'tolerations':[{'key':'k','operator':'Exists','value':''}],"
                        + "'containers':[{'name':'c','image':'i','args':[],'env':[{'name':'e','value':''}]}]}}"));
        assertThat(created.status()).as(created.text()).isEqualTo(201);

        // when a client in Go, which leaves out what is false or empty, sends it back with a label
        JsonObject spec = created.json().object("spec");
        String same = "{\"metadata\":{\"name\":\"p2\",\"labels\":{\"a\":\"b\"}},\"spec\":"
                + spec.toString()
                        .replace("\"hostNetwork\":false,", "")
                        .replace("\"nodeSelector\":{},", "")
                        .replace("\"args\":[],", "")
                        .replace(",\"value\":\"\"", "")
                + "}";
        assertThat(same).doesNotContain("hostNetwork", "nodeSelector", "args", "value");
        Answer labelled = server.put(PODS + "/p2", same);

        // then
        assertThat(labelled.status()).as(labelled.text()).isEqualTo(200);
        assertThat(labelled.json().object("metadata").object("labels")).hasToString("{\"a\":\"b\"}");
        assertThat(labelled.json().object("spec")).isEqualTo(created.json().object("spec"));
        // and with a change that is allowed
        Answer changed = server.put(PODS + "/p2", same.replace("\"image\":\"i\"", "\"image\":\"j\""));
        assertThat(changed.status()).as(changed.text()).isEqualTo(200);
        // and clients do not leave out what is false in a pointer
        Answer refused = server.put(PODS + "/p2", same.replace("\"automountServiceAccountToken\":false,", ""));
        assertThat(refused.status()).as(refused.text()).isEqualTo(422);
    }

    @Test
    void labelOfANodeSelectorCountsThoughItsValueIsEmpty() {
        String pod = json("{'metadata':{'name':'p2'},'spec':{'nodeSelector':{'a':''},"
                + "'containers':[{'name':'c','image':'i'}]}}");
        server.post(PODS, pod);

        Answer refused = server.put(PODS + "/p2", pod.replace("\"a\":\"\"", ""));

        assertThat(refused.status()).as(refused.text()).isEqualTo(422);
    }
}
