package io.nodekeeper.controller;

import static io.nodekeeper.controller.TestCluster.B;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import io.nodekeeper.api.Condition;
import io.nodekeeper.api.Node;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.client.KubeClient;
import io.nodekeeper.client.events.ApiEventRecorder;
import io.nodekeeper.controller.history.History;
import io.nodekeeper.controller.metrics.ControllerMetrics;
import io.nodekeeper.time.Randoms;
import io.nodekeeper.time.VirtualTime;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The controller against a server that answers like a kube-apiserver, in forms that our own server does not use. */
class ExchangesTest {
    private static final String NODES = "/api/v1/nodes";
    private static final String LEASES = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases";
    private static final String STATUS = "PUT /api/v1/nodes/n1/status";
    private static final String TAINTS = "PATCH /api/v1/nodes/n1";
    private static final String EVENT = "POST /api/v1/namespaces/default/events";
    private static final String POD = "/api/v1/namespaces/default/pods/web-0";

    /** The default mode from the first call to the last, canaries after the first aside. */
    @Test
    void wholeConversationAboutOneSilentNode() {
        Exchanges server = run(Mode.DEADLINES, "silent-node.txt", 90);

        assertThat(lines(server))
                .filteredOn(line -> !line.equals("PATCH " + LEASES + "/nodekeeper-canary"))
                .containsExactly(
                        "GET " + LEASES,
                        "GET /api/v1/pods",
                        "GET " + NODES,
                        EVENT,
                        "POST " + LEASES,
                        EVENT,
                        "GET " + LEASES + "/n1",
                        "GET " + NODES + "/n1",
                        STATUS,
                        TAINTS,
                        EVENT);
        assertThat(server.unanswered()).isEmpty();
    }

    @ParameterizedTest
    @EnumSource(Mode.class)
    @Tag("L5")
    @Tag("L30")
    void silentNodeIsMarked(Mode mode) {
        Exchanges server = run(mode, "silent-node.txt", 90);

        JsonObject put = only(server, STATUS).sent();
        assertThat(new Node(put).conditions())
                .extracting(Condition::type, Condition::status, Condition::reason)
                .containsExactly(
                        tuple("MemoryPressure", "Unknown", "NodeStatusUnknown"),
                        tuple("DiskPressure", "Unknown", "NodeStatusUnknown"),
                        tuple("PIDPressure", "Unknown", "NodeStatusUnknown"),
                        tuple("Ready", "Unknown", "NodeStatusUnknown"));
        assertThat(new Node(put).resourceVersion()).isEqualTo("991");
        assertThat(put.object("metadata").array("managedFields").objects()).hasSize(2);
        assertThat(eventReasons(server)).containsExactly("RegisteredNode n1", "RegisteredNode n2", "NodeNotReady n1");
        JsonObject event = calls(server, EVENT).getLast().sent();
        assertThat(event.text("type")).isEqualTo("Normal");
        assertThat(event.text("message")).isEqualTo("Node n1 status is now: NodeNotReady");
        assertThat(event.object("source").text("component")).isEqualTo("node-controller");
        assertThat(event.text("reportingComponent")).isEqualTo("node-controller");
        assertThat(lines(server)).noneMatch(line -> line.contains("/nodes/n2"));
        assertThat(server.unanswered()).isEmpty();
    }

    @ParameterizedTest
    @EnumSource(
            value = Mode.class,
            names = {"DEADLINES", "GUARDED_PASS"})
    void bothTaintsComeWithOnePatch(Mode mode) {
        Exchanges server = run(mode, "silent-node.txt", 90);

        Exchanges.Exchange patch = only(server, TAINTS);
        assertThat(patch.call().contentType()).isEqualTo("application/strategic-merge-patch+json");
        assertThat(taints(patch))
                .containsExactlyInAnyOrder(
                        "node.kubernetes.io/unreachable:NoSchedule", "node.kubernetes.io/unreachable:NoExecute");
        assertThat(version(patch.sent())).isEqualTo(version(only(server, STATUS).answered()));
    }

    @Test
    @Tag("W15")
    void referenceTaintsWithOnePatchAnEffect() {
        Exchanges server = run(Mode.REFERENCE, "silent-node.txt", 90);

        List<Exchanges.Exchange> patches = calls(server, TAINTS);
        assertThat(patches).hasSize(2);
        assertThat(taints(patches.getFirst())).containsExactly("node.kubernetes.io/unreachable:NoSchedule");
        assertThat(version(patches.getFirst().sent()))
                .isEqualTo(version(only(server, STATUS).answered()));
        assertThat(taints(patches.getLast()))
                .containsExactlyInAnyOrder(
                        "node.kubernetes.io/unreachable:NoSchedule", "node.kubernetes.io/unreachable:NoExecute");
        assertThat(version(patches.getLast().sent()))
                .isEqualTo(version(patches.getFirst().answered()));
        assertThat(server.unanswered()).isEmpty();
    }

    @ParameterizedTest
    @EnumSource(Mode.class)
    void expiredWatchNeitherLosesNorAgesNodes(Mode mode) {
        Exchanges before = run(mode, "expired-watch.txt", 50);
        assertThat(calls(before, "GET " + NODES)).hasSize(2);
        assertThat(calls(before, STATUS)).isEmpty();

        Exchanges after = run(mode, "expired-watch.txt", 56);
        assertThat(calls(after, STATUS)).hasSize(1);
        assertThat(eventReasons(after)).containsExactly("RegisteredNode n1", "RegisteredNode n2", "NodeNotReady n1");
        assertThat(after.unanswered()).isEmpty();
    }

    @ParameterizedTest
    @EnumSource(Mode.class)
    @Tag("L19")
    void conflictIsResolvedByReadingAgain(Mode mode) {
        Exchanges server = run(mode, "conflict.txt", 57);

        List<Exchanges.Exchange> puts = calls(server, STATUS);
        assertThat(puts).hasSize(2);
        assertThat(version(puts.getFirst().sent())).isEqualTo("991");
        assertThat(puts.getFirst().reply().status()).isEqualTo(409);
        assertThat(version(puts.getLast().sent())).isEqualTo("1005");
        assertThat(new Node(puts.getLast().sent()).labels()).containsEntry("team", "blue");
        assertThat(eventReasons(server)).containsOnlyOnce("NodeNotReady n1");
        assertThat(server.unanswered()).isEmpty();
    }

    @ParameterizedTest
    @EnumSource(Mode.class)
    void failureOfTheStoreIsTriedAgain(Mode mode) {
        Exchanges server = run(mode, "etcd-timeout.txt", 57);

        assertThat(calls(server, STATUS)).hasSize(2);
        assertThat(eventReasons(server)).containsOnlyOnce("NodeNotReady n1");
        assertThat(server.unanswered()).isEmpty();
    }

    @ParameterizedTest
    @EnumSource(Mode.class)
    void unknownFieldsAreKeptAndUnknownEventsPassedOver(Mode mode) {
        Exchanges before = run(mode, "unknown-things.txt", 65);
        assertThat(calls(before, STATUS)).isEmpty();

        Exchanges after = run(mode, "unknown-things.txt", 82);
        JsonObject put = only(after, STATUS).sent();
        assertThat(put.object("status").object("futureField")).hasToString("{\"a\":[1,2.5,null]}");
        assertThat(put.object("status").array("conditions").objects().findFirst())
                .hasToString(
                        "Optional[{\"type\":\"FutureCondition\",\"status\":\"Perhaps\",\"observedGeneration\":7}]");
        assertThat(version(put)).isEqualTo("1020");
        assertThat(after.unanswered()).isEmpty();
    }

    @ParameterizedTest
    @EnumSource(Mode.class)
    @Tag("L21")
    void nodeThatIsGoneIsLeftAlone(Mode mode) {
        Exchanges server = run(mode, "deleted-node.txt", 90);

        assertThat(calls(server, TAINTS)).isEmpty();
        assertThat(eventReasons(server)).containsExactly("RegisteredNode n1", "RegisteredNode n2", "RemovingNode n1");
        assertThat(server.unanswered()).isEmpty();
    }

    @ParameterizedTest
    @EnumSource(Mode.class)
    void watchesThatTheServerEndsAreRestarted(Mode mode) {
        Exchanges server = run(mode, "silent-node.txt", 300);

        assertThat(lines(server)).noneMatch(line -> line.contains("/nodes/n2"));
        assertThat(calls(server, "GET " + NODES)).hasSize(1);
        assertThat(calls(server, "GET " + LEASES)).hasSize(1);
        assertThat(calls(server, STATUS)).hasSize(1);
        assertThat(server.unanswered()).isEmpty();
    }

    @Test
    @Tag("W1")
    void verdictsRestOnTheRenewalsOfOthersWhereTheCanaryMayNotBeWritten() {
        Exchanges before = run(Mode.DEADLINES, "forbidden-canary.txt", 52);
        assertThat(calls(before, STATUS)).isEmpty();

        Exchanges server = run(Mode.DEADLINES, "forbidden-canary.txt", 75);
        assertThat(calls(server, STATUS)).hasSize(1);
        assertThat(lines(server)).noneMatch(line -> line.contains("/nodes/n2"));
        assertThat(eventReasons(server)).containsExactly("RegisteredNode n1", "RegisteredNode n2", "NodeNotReady n1");
        assertThat(calls(server, "POST /api/v1/namespaces/kube-node-lease/events"))
                .extracting(event -> event.sent().text("reason"))
                .containsExactly("ObserverBlind", "JudgementDegraded");
        assertThat(server.unanswered()).isEmpty();
    }

    @Test
    @Tag("W1")
    void stalledWatchIsReplacedByLists() {
        // The watch delivers nothing from 20 s to 100 s, and n1 is silent from the start.
        Exchanges before = run(Mode.DEADLINES, "stalled-server.txt", 52);
        assertThat(calls(before, STATUS)).isEmpty();
        assertThat(calls(before, "GET /version")).isNotEmpty();

        Exchanges after = run(Mode.DEADLINES, "stalled-server.txt", 135);
        assertThat(calls(after, STATUS)).hasSize(1);
        assertThat(lines(after)).noneMatch(line -> line.contains("/nodes/n2"));
        assertThat(after.unanswered()).isEmpty();
    }

    @Test
    @Tag("L61")
    void podOfTheSilentNodeIsMarkedAndEvicted() {
        Exchanges server = run(Mode.DEADLINES, "pod-on-silent-node.txt", 400);

        List<Exchanges.Exchange> patches = calls(server, "PATCH " + POD + "/status");
        assertThat(patches).hasSize(2);
        assertThat(patches.getFirst().sent())
                .hasToString("{\"metadata\":{\"uid\":\"d0000000-0000-4000-8000-000000000001\","
                        + "\"resourceVersion\":\"900\"},\"status\":{\"conditions\":[{\"type\":\"Ready\","
                        + "\"status\":\"False\",\"lastTransitionTime\":\"2015-01-01T12:00:50Z\"}]}}");
        assertThat(patches.getLast().sent())
                .hasToString("{\"metadata\":{\"uid\":\"d0000000-0000-4000-8000-000000000001\"},"
                        + "\"status\":{\"conditions\":[{\"type\":\"DisruptionTarget\",\"status\":\"True\","
                        + "\"reason\":\"DeletionByTaintManager\","
                        + "\"message\":\"Taint manager: deleting due to NoExecute taint\","
                        + "\"lastTransitionTime\":\"2015-01-01T12:05:51Z\"}]}}");
        assertThat(only(server, "DELETE " + POD).sent())
                .hasToString("{\"preconditions\":{\"uid\":\"d0000000-0000-4000-8000-000000000001\"}}");
        assertThat(eventReasons(server))
                .containsExactly(
                        "RegisteredNode n1",
                        "RegisteredNode n2",
                        "NodeNotReady n1",
                        "NodeNotReady web-0",
                        "TaintManagerEviction web-0");
        assertThat(server.unanswered()).isEmpty();
    }

    @Test
    @Tag("L61")
    void referenceMarksThePodWithAPutAndDeletesWhateverBearsItsName() {
        Exchanges server = run(Mode.REFERENCE, "pod-on-silent-node.txt", 400);

        JsonObject marked = only(server, "PUT " + POD + "/status").sent();
        assertThat(version(marked)).isEqualTo("900");
        assertThat(marked.object("status"))
                .hasToString("{\"phase\":\"Running\",\"conditions\":[{\"type\":\"Ready\",\"status\":\"False\","
                        + "\"lastProbeTime\":null,\"lastTransitionTime\":\"2015-01-01T12:00:55Z\"}],"
                        + "\"qosClass\":\"BestEffort\"}");
        assertThat(only(server, "PATCH " + POD + "/status")
                        .sent()
                        .object("status")
                        .array("conditions")
                        .objects())
                .extracting(condition -> condition.text("type"), condition -> condition.text("lastTransitionTime"))
                .containsExactly(tuple("DisruptionTarget", "2015-01-01T12:06:00Z"));
        assertThat(only(server, "DELETE " + POD).sent()).hasToString("{}");
        assertThat(server.unanswered()).isEmpty();
    }

    /** Lets a controller work with the exchanges of {@code file} for {@code seconds}. */
    private static Exchanges run(Mode mode, String file, int seconds) {
        VirtualTime time = new VirtualTime(B);
        VirtualTime.VirtualLoop loop = time.loop("controller");
        Exchanges server = new Exchanges(file, loop);
        KubeClient client = new KubeClient(server, loop, Duration.ofSeconds(10));
        new Controller(
                        mode.config(),
                        new ControllerPorts(
                                client,
                                loop,
                                component -> new ApiEventRecorder(client, component, "", Randoms.seeded(2)),
                                Randoms.seeded(1),
                                new ControllerMetrics(),
                                History.NONE))
                .start();
        time.advance(Duration.ofSeconds(seconds));
        return server;
    }

    private static List<String> lines(Exchanges server) {
        return server.exchanges().stream().map(Exchanges.Exchange::line).toList();
    }

    private static Exchanges.Exchange only(Exchanges server, String line) {
        assertThat(calls(server, line)).hasSize(1);
        return calls(server, line).getFirst();
    }

    private static List<Exchanges.Exchange> calls(Exchanges server, String line) {
        return server.exchanges().stream()
                .filter(exchange -> exchange.line().equals(line))
                .toList();
    }

    private static String version(JsonObject object) {
        return object.object("metadata").text("resourceVersion");
    }

    /** Taints in a PATCH as {@code key:effect}. */
    private static List<String> taints(Exchanges.Exchange patch) {
        return new Node(patch.sent())
                .taints().stream()
                        .map(taint -> taint.key() + ":" + taint.effect())
                        .toList();
    }

    /** Reason and name of what it is about of each event that was sent. */
    private static List<String> eventReasons(Exchanges server) {
        return calls(server, EVENT).stream()
                .map(Exchanges.Exchange::sent)
                .map(event -> event.text("reason") + " "
                        + event.object("involvedObject").text("name"))
                .toList();
    }
}
