package io.nodekeeper.controller;

import static io.nodekeeper.controller.TestCluster.B;
import static io.nodekeeper.controller.TestCluster.K;
import static io.nodekeeper.controller.TestCluster.ready;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import io.nodekeeper.api.ResourceType;
import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.client.Call;
import io.nodekeeper.client.KubeClient;
import io.nodekeeper.client.PatchType;
import io.nodekeeper.client.Reply;
import io.nodekeeper.client.events.ApiEventRecorder;
import io.nodekeeper.client.shadow.ShadowTransport;
import io.nodekeeper.controller.history.Decision;
import io.nodekeeper.controller.metrics.ControllerMetrics;
import io.nodekeeper.controller.metrics.ObserveMetrics;
import io.nodekeeper.controller.observe.Observation;
import io.nodekeeper.time.Randoms;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** With {@code --mode observe} the whole controller runs, and sends only reads to the server. */
class ObserveTest {
    private final TestCluster cluster = new TestCluster();
    private final List<Decision> differences = new ArrayList<>();
    private final ControllerMetrics scraped = new ControllerMetrics();
    private final Observation observation = new Observation(
            cluster.loop, differences::add, TestCluster.CONFIG.nodeMonitorGracePeriod(), new ObserveMetrics(scraped));
    private final ShadowTransport shadow = new ShadowTransport(cluster.transport, cluster.loop.clock(), observation);
    private final KubeClient client = new KubeClient(shadow, cluster.loop, Duration.ofSeconds(10));

    @Test
    void nothingButReadsLeavesOverAWholeScenario() {
        start();
        for (int i = 0; i < 20; i++) {
            cluster.addNode("n" + i, K, ready("True", cluster.time.wallTime()));
            cluster.renew("n" + i, cluster.time.wallTime());
        }
        // Some die, some flap, some are NotReady, one is deleted, the watch is lost, and the cluster's own controller
        // works.
        for (int second = 10; second <= 1_200; second += 10) {
            cluster.advanceTo(second + "S");
            for (int i = 0; i < 15; i++) {
                boolean flaps = i < 3 && second / 100 % 2 == 1;
                if (!flaps) {
                    cluster.renew("n" + i, B.plusSeconds(second));
                }
            }
            if (second % 200 == 0) {
                cluster.post("n4", ready(second % 400 == 0 ? "True" : "False", B.plusSeconds(second)));
                cluster.loseHistory();
            }
            if (second == 500) {
                cluster.deleteNode("n5");
            }
            if (second == 600) {
                cluster.post("n16", ready("Unknown", B));
            }
        }

        assertThat(kept("PUT nodes")).isGreaterThanOrEqualTo(5);
        assertThat(scraped("nodekeeper_observe_withheld_writes_total{method=\"PUT\",resource=\"nodes\"}"))
                .isEqualTo(kept("PUT nodes") + ".0");
        assertThat(kept("PATCH nodes")).isGreaterThanOrEqualTo(5);
        assertThat(kept("POST events")).isGreaterThanOrEqualTo(20);
        assertThat(cluster.transport.calls())
                .isNotEmpty()
                .allMatch(call -> call.method().equals("GET"));
        assertThat(cluster.transport.watches())
                .allMatch(watch -> watch.call().method().equals("GET"));
        assertThat(cluster.ready("n19")).isEqualTo("True");
        assertThat(cluster.taints("n19")).isEmpty();
    }

    @Test
    void changeByBothIsReportedWithItsTimes() {
        cluster.addNode("n1", K, ready("True", B));
        cluster.renew("n1", B);
        start();
        cluster.advanceTo("54.900S");
        cluster.post("n1", ready("Unknown", B));
        cluster.change("n1", node -> TestCluster.taint(node, "node.kubernetes.io/unreachable", "NoSchedule"));
        cluster.advanceTo("60S");

        assertThat(differences)
                .filteredOn(decision -> decision.kind().equals("Difference"))
                .extracting(Decision::node)
                .containsOnly("n1");
        assertThat(differences)
                .anySatisfy(decision -> {
                    assertThat(decision.text()).startsWith("node n1 Ready=Unknown: both, ours 4");
                    assertThat(decision.text()).endsWith(" ms before theirs");
                    assertThat(decision.details().text("theirs")).isEqualTo("2015-01-01T12:00:54.900000Z");
                    assertThat(decision.details()
                                    .number("oursBeforeTheirsMillis")
                                    .orElse(0L))
                            .isBetween(4_880L, 4_900L);
                })
                .anySatisfy(decision -> assertThat(decision.text())
                        .startsWith("node n1 +node.kubernetes.io/unreachable:NoSchedule: both, ours 4"));
    }

    @Test
    void changeByOneSideIsReportedAfterTheWindow() {
        cluster.addNode("n1", K, ready("True", B));
        cluster.addNode("n2", K, ready("True", B));
        start();
        cluster.advanceTo("20S");
        cluster.post("n2", ready("Unknown", B));

        cluster.advanceTo("15M");

        assertThat(differences)
                .extracting(Decision::text)
                .contains("node n1 Ready=Unknown: ours alone", "node n2 Ready=Unknown: theirs alone");
        assertThat(observation.json().number("waiting")).contains(0L);
        assertThat(scraped("nodekeeper_observe_waiting_changes")).isEqualTo("0.0");
        assertThat(scraped("nodekeeper_observe_changes_total{outcome=\"theirs_alone\"}"))
                .isEqualTo(observation.json().number("theirsAlone").orElse(0L) + ".0");
        assertThat(observation.summary()).contains("by ours alone").contains("0 open");
    }

    @Test
    void aFalseVerdictOfTheOtherControllerIsReportedAndNotMatchedWithALaterOneOfOurs() {
        cluster.addNode("n1", K, ready("True", B));
        cluster.renew("n1", B);
        start();
        cluster.advanceTo("10S");
        cluster.renew("n1", B.plusSeconds(10));
        // Given a verdict 2 s after the node was heard, which the node takes back, and the node's death soon after.
        cluster.advanceTo("12S");
        cluster.post("n1", ready("Unknown", B));
        cluster.advanceTo("13S");
        cluster.renew("n1", B.plusSeconds(13));
        cluster.post("n1", ready("True", B.plusSeconds(13)));

        cluster.advanceTo("2M");
        cluster.post("n1", ready("Unknown", B.plusSeconds(13)));
        cluster.advanceTo("15M");

        assertThat(differences)
                .extracting(Decision::text)
                .filteredOn(text -> text.startsWith("node n1 Ready=Unknown: "))
                .hasSize(2)
                .anyMatch(text -> text.equals(
                        "node n1 Ready=Unknown: theirs alone, and false: the node was heard 2000 ms before"))
                .anyMatch(text -> text.startsWith("node n1 Ready=Unknown: both, ours 5"));
        assertThat(observation.json().number("theirsFalse")).contains(1L);
        assertThat(scraped("nodekeeper_observe_changes_total{outcome=\"theirs_false\"}"))
                .isEqualTo("1.0");
        assertThat(scraped("nodekeeper_observe_changes_total{outcome=\"both\"}"))
                .isEqualTo(scraped("nodekeeper_observe_lead_seconds_count") + ".0")
                .isEqualTo(observation.json().number("both").orElse(0L) + ".0");
        assertThat(observation.summary()).contains("1 of theirs false");
    }

    @Test
    void anEvictionFromANodeThatIsHeardIsFalseAtOnceUnlessAnotherTaintCausesIt() {
        for (String name : List.of("heard", "drained", "silent")) {
            cluster.addNode(name, K, ready("True", B));
            cluster.renew(name, B);
        }
        start();
        // Given three nodes that the other declares Unknown: one that lives, one that lives and is being drained by a
        // taint, and one that has been silent for more than half of the grace.
        cluster.advanceTo("10S");
        cluster.renew("silent", B.plusSeconds(10));
        cluster.advanceTo("40S");
        cluster.renew("heard", B.plusSeconds(40));
        cluster.renew("drained", B.plusSeconds(40));
        cluster.change("drained", node -> TestCluster.taint(node, "example.org/drain", "NoExecute"));
        cluster.advanceTo("41S");
        for (String name : List.of("heard", "drained", "silent")) {
            cluster.post(name, ready("Unknown", B));
        }

        // When it evicts a pod from each.
        cluster.advanceTo("42S");
        for (String name : List.of("heard", "drained", "silent")) {
            cluster.broadcast(ResourceType.PODS, "MODIFIED", evicted(name));
        }
        cluster.advanceTo("43S");

        // Then one eviction is known to be false, and two wait for what this controller does.
        assertThat(differences)
                .extracting(Decision::text)
                .filteredOn(text -> text.startsWith("pod "))
                .containsExactly(
                        "pod default/pod-heard evicted: theirs alone, and false: the node was heard 2000 ms before");
        cluster.advanceTo("15M");
        assertThat(differences)
                .extracting(Decision::text)
                .filteredOn(text -> text.startsWith("pod "))
                .contains("pod default/pod-drained evicted: theirs alone");
    }

    private static JsonObject evicted(String node) {
        return Json.parseObject("""
                {"metadata":{"name":"pod-%1$s","namespace":"default","uid":"uid-%1$s","resourceVersion":"9000",
                "deletionTimestamp":"2015-01-01T12:00:42Z"},"spec":{"nodeName":"%1$s"},
                "status":{"conditions":[{"type":"DisruptionTarget","status":"True","reason":"DeletionByTaintManager"}]}}
                """.formatted(node));
    }

    @Test
    void aVerdictOfTheOtherAloneIsStoredWithTheSilenceAroundIt() {
        cluster.addNode("n1", K, ready("True", B));
        cluster.renew("n1", B);
        start();
        // Given a node that is silent for 41 s, and sends a heartbeat 4 s after the verdict.
        cluster.advanceTo("10S");
        cluster.renew("n1", B.plusSeconds(10));
        cluster.advanceTo("51S");
        cluster.post("n1", ready("Unknown", B));
        cluster.advanceTo("55S");
        cluster.renew("n1", B.plusSeconds(55));
        cluster.post("n1", ready("True", B.plusSeconds(55)));
        for (int second = 65; second < 700; second += 10) {
            cluster.advanceTo(second + "S");
            cluster.renew("n1", B.plusSeconds(second));
        }

        assertThat(differences)
                .filteredOn(decision -> decision.text().equals("node n1 Ready=Unknown: theirs alone"))
                .singleElement()
                .satisfies(decision -> assertThat(decision.details())
                        .hasToString("{\"object\":\"node n1\",\"change\":\"Ready=Unknown\","
                                + "\"theirs\":\"2015-01-01T12:00:51.000000Z\",\"graceMillis\":50000,"
                                + "\"silentMillisBefore\":41000,\"heardMillisAfter\":4000}"));
    }

    @Test
    void beginningEndAndBlindnessOfTheObservationAreFactsInItsHistory() {
        observation.begin();
        observation.wouldBe().add(new Decision(B, "", "", "ObserverBlind", "nothing seen for 3s", JsonObject.EMPTY));
        observation.end();

        assertThat(differences)
                .extracting(Decision::kind, Decision::node, Decision::text)
                .containsExactly(
                        tuple(
                                "ObservationStarted",
                                "",
                                "begins to compare its decisions with those of the cluster's controller; its grace"
                                        + " period is 50s"),
                        tuple("ObserverBlind", "", "nothing seen for 3s"),
                        tuple(
                                "ObservationEnded",
                                "",
                                "observed: 0 changes by both, 0 by ours alone, 0 by theirs alone, 0 of theirs"
                                        + " false, 0 open, 0 dropped; 0 writes withheld"));
    }

    @Test
    void verdictsAboutDifferentSilencesOfANodeAreNotPaired() {
        cluster.addNode("n1", K, ready("True", B));
        cluster.renew("n1", B);
        start();
        // Given theirs after 30 s, which is early for us, a renewal that ends that silence, and ours about the next
        // one.
        cluster.advanceTo("30S");
        cluster.post("n1", ready("Unknown", B));
        cluster.advanceTo("31S");
        cluster.renew("n1", B.plusSeconds(31));
        cluster.post("n1", ready("True", B.plusSeconds(31)));

        cluster.advanceTo("15M");

        assertThat(differences)
                .extracting(Decision::text)
                .filteredOn(text -> text.startsWith("node n1 Ready=Unknown: "))
                .containsExactlyInAnyOrder("node n1 Ready=Unknown: theirs alone", "node n1 Ready=Unknown: ours alone");
    }

    @Test
    void whatWasNotDoneIsNotKeptAsDone() {
        cluster.addNode("n1", K, ready("True", B));
        start();
        cluster.advanceTo("2M");

        assertThat(differences)
                .filteredOn(decision ->
                        List.of("Unknown", "Tainted", "Untainted", "Evicted").contains(decision.kind()))
                .isNotEmpty()
                .allMatch(decision -> decision.text().startsWith("Not done in observe mode: "));
    }

    @Test
    void whatANodeReportedIsAFact() {
        cluster.addNode("n1", K, ready("True", B));
        start();
        cluster.advanceTo("10S");
        cluster.post("n1", ready("False", B.plusSeconds(10)));

        // The verdict at 60 s is not written.
        cluster.advanceTo("2M");
        cluster.post("n1", ready("True", B.plusSeconds(120)));
        cluster.advanceTo("121S");

        assertThat(differences)
                .filteredOn(decision -> decision.kind().equals("ReadyChanged"))
                .extracting(Decision::text)
                .containsExactly(
                        "Ready changed from True to False: KubeletSays: kubelet says so",
                        "Ready changed from Unknown to True: KubeletSays: kubelet says so (Unknown may be a verdict that"
                                + " was not written)");
    }

    @Test
    void writesShowUntilAnotherClientChangesTheSameField() {
        cluster.addNode("n1", K, ready("True", B));
        JsonObject patch = Json.parseObject("{\"spec\":{\"taints\":[{\"key\":\"k\",\"effect\":\"NoSchedule\"}]}}");
        Reply answer =
                send(new Call("PATCH", "/api/v1/nodes/n1", PatchType.STRATEGIC.mediaType(), Json.writeBytes(patch)));
        assertThat(answer.status()).isEqualTo(200);
        assertThat(Json.parseObject(answer.body()).object("metadata").text("resourceVersion"))
                .startsWith(cluster.node("n1").resourceVersion() + ".");
        assertThat(taints()).isEqualTo(1);

        cluster.post("n1", ready("True", B.plusSeconds(10)));
        assertThat(taints()).isEqualTo(1);

        cluster.change("n1", node -> TestCluster.cordon(node, true));
        assertThat(taints()).isZero();
    }

    @Test
    void writesForAnEarlierStateAreRefusedAsAServerWould() {
        cluster.addNode("n1", K, ready("True", B));
        JsonObject old = cluster.node("n1").json();
        cluster.post("n1", ready("True", B.plusSeconds(10)));

        Reply answer = send(new Call("PUT", "/api/v1/nodes/n1/status", "application/json", Json.writeBytes(old)));
        assertThat(answer.status()).isEqualTo(409);
        assertThat(send(new Call("PUT", "/api/v1/nodes/none/status", "application/json", Json.writeBytes(old)))
                        .status())
                .isEqualTo(404);
        cluster.advance(Duration.ofSeconds(1));
        assertThat(kept("PUT nodes")).isZero();
    }

    @Test
    void deletedObjectIsGoneToItsWriterAlone() {
        cluster.addNode("n1", K, ready("True", B));

        Reply answer =
                send(new Call("DELETE", "/api/v1/nodes/n1", "application/json", Json.writeBytes(JsonObject.EMPTY)));

        assertThat(Json.parseObject(answer.body()).text("status")).isEqualTo("Success");
        assertThat(send(Call.get("/api/v1/nodes/n1")).status()).isEqualTo(404);
        assertThat(Json.parseObject(send(Call.get("/api/v1/nodes")).body())
                        .array("items")
                        .objects())
                .isEmpty();
        assertThat(cluster.ready("n1")).isEqualTo("True");
    }

    private long taints() {
        return Json.parseObject(send(Call.get("/api/v1/nodes/n1")).body())
                .object("spec")
                .array("taints")
                .objects()
                .count();
    }

    private Reply send(Call call) {
        return shadow.send(call).join();
    }

    private String scraped(String series) {
        return new String(scraped.scrape(), StandardCharsets.UTF_8)
                .lines()
                .filter(line -> line.startsWith(series + " "))
                .map(line -> line.substring(series.length() + 1))
                .findFirst()
                .orElse("absent");
    }

    private long kept(String what) {
        return observation.json().object("writesKeptBack").number(what).orElse(0L);
    }

    private void start() {
        new Controller(
                        TestCluster.CONFIG.observing(),
                        new ControllerPorts(
                                client,
                                cluster.loop,
                                component -> new ApiEventRecorder(client, component, "", Randoms.seeded(2)),
                                Randoms.seeded(1),
                                new ControllerMetrics(),
                                observation.wouldBe()))
                .start();
        cluster.advance(Duration.ZERO);
    }
}
