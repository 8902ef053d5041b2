package io.nodekeeper.controller.zones;

import static io.nodekeeper.controller.TestCluster.B;
import static io.nodekeeper.controller.TestCluster.CONFIG;
import static io.nodekeeper.controller.TestCluster.K;
import static io.nodekeeper.controller.TestCluster.ready;
import static io.nodekeeper.controller.TestCluster.taint;
import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.api.ApiException;
import io.nodekeeper.api.ResourceType;
import io.nodekeeper.api.Taint;
import io.nodekeeper.api.json.Json;
import io.nodekeeper.client.Call;
import io.nodekeeper.client.FakeTransport;
import io.nodekeeper.client.KubeClient;
import io.nodekeeper.client.workqueue.PriorityWorkQueue;
import io.nodekeeper.controller.Mode;
import io.nodekeeper.controller.TestCluster;
import io.nodekeeper.controller.config.ControllerFeature;
import io.nodekeeper.controller.config.FeatureGates;
import io.nodekeeper.controller.config.ZoneConfig;
import io.nodekeeper.controller.heartbeats.Heartbeats;
import io.nodekeeper.controller.heartbeats.NodeHealth;
import io.nodekeeper.controller.metrics.ControllerMetrics;
import io.nodekeeper.controller.observer.ObserverGuard;
import io.nodekeeper.controller.reference.PassZones;
import io.nodekeeper.controller.reference.ReferenceRules;
import io.nodekeeper.controller.taints.NoExecute;
import io.nodekeeper.controller.taints.Tainter;
import io.nodekeeper.time.DeadlineWheel;
import io.nodekeeper.time.Randoms;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** NoExecute taints by zone, in both modes; the reference's zones make their own passes. */
class ZonesTest {
    private static final String NOT_READY = "node.kubernetes.io/not-ready:NoExecute";
    private static final String UNREACHABLE = "node.kubernetes.io/unreachable:NoExecute";
    private static final FeatureGates REFERENCE =
            new FeatureGates(EnumSet.of(ControllerFeature.WATCH_DRIVEN_DEADLINES, ControllerFeature.STATE_BY_UID));

    private static TestCluster ours() {
        return new TestCluster(CONFIG);
    }

    private static TestCluster reference() {
        return new TestCluster(CONFIG.with(REFERENCE));
    }

    /** Ours, the reference's zones with our deadlines, and the reference with its own pass. */
    private static List<TestCluster> everyMode() {
        return List.of(ours(), reference(), Mode.REFERENCE.cluster());
    }

    @Test
    @Tag("L43")
    @Tag("L44")
    void nodesThatAreNotReadyAreTaintedAndFreedWhenTheyAreBack() {
        for (TestCluster cluster : everyMode()) {
            cluster.addNode("node0", K, ready("Unknown", B));
            cluster.addNode("node1", K, ready("True", B));
            cluster.addNode("node2", K, ready("False", B));
            cluster.renew("node1", B);

            cluster.start().advance(Duration.ofMillis(10_300));

            assertThat(noExecute(cluster, "node0")).containsExactly(UNREACHABLE);
            assertThat(noExecute(cluster, "node1")).isEmpty();
            assertThat(noExecute(cluster, "node2")).containsExactly(NOT_READY);
            assertThat(List.of(timeAdded(cluster, "node0"), timeAdded(cluster, "node2")))
                    .allMatch(time -> time.startsWith("2015-01-01T12:00:"));

            cluster.post("node2", ready("True", B.plusSeconds(10)));
            cluster.advance(Duration.ofMillis(5_100));
            assertThat(cluster.taints("node2")).isEmpty();
        }
    }

    @Test
    @Tag("W3")
    @Tag("W15")
    void verdictTaintsAtOnceAndInOneWrite() {
        TestCluster cluster = ours();
        healthy(cluster, 5);
        cluster.start();

        fail(cluster, 1);
        cluster.advance(Duration.ofMillis(1));

        assertThat(cluster.taints("node1")).containsExactly("node.kubernetes.io/not-ready:NoSchedule", NOT_READY);
        assertThat(cluster.calls("PATCH", "/nodes/node1")).isEqualTo(1);
        assertThat(cluster.calls("GET", "/nodes/node1")).isZero();
    }

    @Test
    @Tag("L49")
    @Tag("W3")
    void referenceTaintsOnePassLate() {
        TestCluster cluster = reference();
        healthy(cluster, 5);
        cluster.start().advance(Duration.ofSeconds(1));

        cluster.post("node1", ready("Unknown", B));
        cluster.advanceTo("9.990S");
        assertThat(cluster.taints("node1")).containsExactly("node.kubernetes.io/unreachable:NoSchedule");
        cluster.advanceTo("10.110S");

        assertThat(noExecute(cluster, "node1")).containsExactly(UNREACHABLE);
    }

    @Test
    @Tag("L49")
    @Tag("W3")
    void lateTaintsArePossibleInFairZonesToo() {
        TestCluster cluster =
                new TestCluster(CONFIG.with(FeatureGates.ALL.without(ControllerFeature.IMMEDIATE_NO_EXECUTE)));
        healthy(cluster, 5);
        cluster.start().advance(Duration.ofSeconds(1));

        cluster.post("node1", ready("Unknown", B));
        fail(cluster, 2);
        cluster.advanceTo("5.990S");
        assertThat(tainted(cluster, 5)).containsExactly(2);
        cluster.advanceTo("11.100S");

        assertThat(noExecute(cluster, "node1")).containsExactly(UNREACHABLE);
    }

    @Test
    @Tag("L49")
    @Tag("L46")
    void passOfAnotherIsFollowedByWhatItObserved() {
        FeatureGates gates = FeatureGates.REFERENCE;
        TestCluster cluster = new TestCluster(CONFIG.with(gates));
        List<NodeHealth> rechecked = new ArrayList<>();
        boolean[] restarted = {false};
        PassZones zones = new PassZones(
                CONFIG.with(gates),
                ReferenceRules.of(gates),
                cluster.loop,
                Randoms.seeded(1),
                rechecked::add,
                () -> restarted[0] = true,
                new ControllerMetrics());
        zones.listed();
        cluster.addNode("n1", K, ready("Unknown", B));
        cluster.addNode("n2", K, ready("True", B));
        NodeHealth n1 = new NodeHealth("n1");
        NodeHealth n2 = new NodeHealth("n2");

        zones.judged(n1, cluster.node("n1"), "True", "Unknown");
        zones.judged(n2, cluster.node("n2"), "True", "True");
        zones.passEnded();
        cluster.advance(Duration.ofSeconds(1));
        assertThat(rechecked).isEmpty();

        zones.judged(n1, cluster.node("n1"), "Unknown", "Unknown");
        zones.judged(n2, cluster.node("n2"), "True", "True");
        zones.passEnded();
        cluster.advance(Duration.ofMillis(100));
        assertThat(rechecked).containsExactly(n1);
        assertThat(zones.rule(n1)).isEqualTo(NoExecute.ADD);
        zones.settled(n1, true);
        assertThat(zones.rule(n1)).isEqualTo(NoExecute.LEAVE);

        zones.judged(n1, cluster.node("n1"), "Unknown", "Unknown");
        zones.judged(n2, cluster.node("n2"), "True", "Unknown");
        zones.passEnded();
        assertThat(restarted[0]).isFalse();
        zones.judged(n1, cluster.node("n1"), "Unknown", "Unknown");
        zones.judged(n2, cluster.node("n2"), "True", "True");
        zones.passEnded();
        assertThat(restarted[0]).isTrue();
        zones.stop();
    }

    @Test
    void queueOfAZoneEndsWithItsLastNode() {
        TestCluster cluster = reference();
        PassZones zones = new PassZones(
                CONFIG.with(REFERENCE),
                ReferenceRules.of(FeatureGates.REFERENCE),
                cluster.loop,
                Randoms.seeded(1),
                node -> {},
                () -> {},
                new ControllerMetrics());
        NodeHealth health = new NodeHealth("n1");
        cluster.addNode("n1", K, ready("True", B));

        // when a node moves to another zone before each of 100 passes
        for (int i = 0; i < 100; i++) {
            String zone = "zone" + i;
            cluster.change(
                    "n1",
                    node -> node.update(
                            "metadata",
                            metadata -> metadata.update(
                                    "labels", labels -> labels.with("topology.kubernetes.io/zone", zone))));
            zones.judged(health, cluster.node("n1"), "True", "True");
            zones.passEnded();
        }

        assertThat(zones.sizes()).containsEntry("zone queues", 1);
        // and its zone's queue ends with it
        zones.gone(health);
        zones.passEnded();
        assertThat(zones.sizes()).containsEntry("zone queues", 0);
    }

    @Test
    @Tag("L46")
    void wrongTaintIsSwappedWithoutAToken() {
        TestCluster ours = ours();
        TestCluster reference = reference();
        for (TestCluster cluster : List.of(ours, reference)) {
            healthy(cluster, 3);
            cluster.addNode("down", K, ready("False", B));
            cluster.change("down", node -> taint(node, Taint.UNREACHABLE, "NoExecute"));
            cluster.addNode("all1", K, ready("False", B));
            cluster.addNode("all2", K, ready("False", B));
            cluster.addNode("all3", K, ready("False", B));
            cluster.advance(Duration.ofSeconds(30));
            cluster.start().advance(Duration.ofMillis(200));
        }

        // Four of seven are down, so there is no token.
        assertThat(noExecute(ours, "down")).containsExactly(NOT_READY);
        assertThat(noExecute(ours, "all2")).isEmpty();
        assertThat(timeAdded(ours, "down")).isEqualTo("2015-01-01T12:00:00Z");
        assertThat(noExecute(reference, "down")).containsExactly(NOT_READY);
        assertThat(noExecute(reference, "all2")).isEmpty();
        assertThat(timeAdded(reference, "down")).isEqualTo("2015-01-01T12:00:30Z");
    }

    @Test
    @Tag("L47")
    void taintRemovedByHandComesBack() {
        for (TestCluster cluster : everyMode()) {
            healthy(cluster, 5);
            fail(cluster, 1);
            cluster.start().advance(Duration.ofSeconds(20));
            assertThat(noExecute(cluster, "node1")).containsExactly(NOT_READY);

            cluster.change("node1", node -> node.update("spec", spec -> spec.without("taints")));
            cluster.advance(Duration.ofMillis(5_100));

            assertThat(noExecute(cluster, "node1")).containsExactly(NOT_READY);
        }
    }

    @Test
    @Tag("L48")
    @Tag("W13")
    void recoveredNodeDoesNotHoldUpTheQueue() {
        for (TestCluster cluster : everyMode()) {
            healthy(cluster, 12);
            fail(cluster, 0);
            fail(cluster, 1);
            cluster.start().advance(Duration.ofMillis(6_000));
            cluster.post("node1", ready("True", B.plusSeconds(6)));
            fail(cluster, 3);
            fail(cluster, 5);

            cluster.advance(Duration.ofSeconds(30));

            assertThat(noExecute(cluster, "node1")).isEmpty();
            assertThat(noExecute(cluster, "node3")).containsExactly(NOT_READY);
            assertThat(noExecute(cluster, "node5")).containsExactly(NOT_READY);
        }
    }

    @Test
    @Tag("L51")
    @Tag("W13")
    void healthyZoneIsTaintedOneNodeInTenSecondsInTheOrderOfFailure() {
        TestCluster cluster = ours();
        healthy(cluster, 20);
        cluster.start();
        fail(cluster, 9);
        cluster.advance(Duration.ofMillis(10));
        fail(cluster, 4);
        cluster.advance(Duration.ofMillis(10));
        fail(cluster, 2);

        cluster.advanceTo("0.100S");
        assertThat(tainted(cluster, 20)).containsExactly(9);
        cluster.advanceTo("9.900S");
        assertThat(tainted(cluster, 20)).containsExactly(9);
        cluster.advanceTo("10.100S");
        assertThat(tainted(cluster, 20)).containsExactly(4, 9);
        cluster.advanceTo("19.900S");
        assertThat(tainted(cluster, 20)).containsExactly(4, 9);
        cluster.advanceTo("20.100S");
        assertThat(tainted(cluster, 20)).containsExactly(2, 4, 9);
    }

    @Test
    @Tag("L51")
    void referenceKeepsTheRateToo() {
        TestCluster cluster = reference();
        healthy(cluster, 20);
        IntStream.of(2, 4, 9).forEach(i -> fail(cluster, i));
        cluster.start();

        cluster.advanceTo("0.200S");
        assertThat(tainted(cluster, 20)).hasSize(1);
        cluster.advanceTo("9.900S");
        assertThat(tainted(cluster, 20)).hasSize(1);
        cluster.advanceTo("10.200S");
        assertThat(tainted(cluster, 20)).hasSize(2);
        cluster.advanceTo("20.300S");
        assertThat(tainted(cluster, 20)).hasSize(3);
    }

    @Test
    @Tag("L55")
    @Tag("L56")
    @Tag("W10")
    void whenAllZonesAreDownTaintsGoAndComeBackWithTheFirstZone() {
        for (TestCluster cluster : everyMode()) {
            inZone(cluster, "a0", "zone1");
            inZone(cluster, "b0", "zone2");
            inZone(cluster, "b1", "zone2");
            cluster.start().advance(Duration.ofSeconds(1));
            cluster.post("a0", ready("False", B.plusSeconds(1)));
            cluster.advance(Duration.ofSeconds(11));
            assertThat(noExecute(cluster, "a0")).containsExactly(NOT_READY);

            cluster.post("b0", ready("False", B.plusSeconds(1)));
            cluster.post("b1", ready("False", B.plusSeconds(1)));
            cluster.advance(Duration.ofSeconds(12));
            assertThat(cluster.taints("a0")).containsExactly("node.kubernetes.io/not-ready:NoSchedule");
            assertThat(noExecute(cluster, "b0")).isEmpty();
            assertThat(noExecute(cluster, "b1")).isEmpty();

            cluster.post("b1", ready("True", B.plusSeconds(24)));
            cluster.advance(Duration.ofSeconds(22));
            assertThat(noExecute(cluster, "a0")).containsExactly(NOT_READY);
            assertThat(noExecute(cluster, "b0")).containsExactly(NOT_READY);
        }
    }

    /** A node that may be tainted is in no queue. If its write fails, and all zones go down before the next one, it must not be lost. */
    @Test
    void nodeWhoseTaintFailedBeforeAllZonesWentDownGetsItWhenOneIsBack() {
        TestCluster cluster = ours();
        inZone(cluster, "a0", "zone1");
        inZone(cluster, "b0", "zone2");
        cluster.start().advance(Duration.ofSeconds(1));
        // given a node whose first write fails
        cluster.fault = call -> call.method().equals("PATCH") && call.target().contains("/nodes/a0")
                ? Optional.of(TestCluster.internalError())
                : Optional.empty();
        cluster.post("a0", ready("False", B.plusSeconds(1)));
        cluster.advance(Duration.ofMillis(1));
        assertThat(noExecute(cluster, "a0")).isEmpty();

        // when all zones are down at its next one
        cluster.post("b0", ready("False", B.plusSeconds(1)));
        cluster.fault = call -> Optional.empty();
        cluster.advance(Duration.ofSeconds(20));
        assertThat(cluster.taints("a0")).containsExactly("node.kubernetes.io/not-ready:NoSchedule");

        // then it is tainted when a zone is back
        cluster.post("b0", ready("True", B.plusSeconds(22)));
        cluster.advance(Duration.ofSeconds(20));
        assertThat(noExecute(cluster, "a0")).containsExactly(NOT_READY);
        assertThat(noExecute(cluster, "b0")).isEmpty();
    }

    @Test
    @Tag("L56")
    @Tag("W10")
    void endOfTheModeRestartsGracesInTheReferenceOnly() {
        TestCluster ours = ours();
        TestCluster reference = reference();
        for (TestCluster cluster : List.of(ours, reference)) {
            cluster.addNode("silent", K, ready("False", B));
            cluster.addNode("back", K, ready("False", B));
            cluster.start().advanceTo("30S");
            cluster.post("back", ready("True", B.plusSeconds(30)));
            cluster.advanceTo("60S");
        }

        assertThat(ours.ready("silent")).isEqualTo("Unknown");
        assertThat(reference.ready("silent")).isEqualTo("False");
        reference.advanceTo("86S");
        assertThat(reference.ready("silent")).isEqualTo("Unknown");
    }

    @Test
    @Tag("L57")
    void excludedNodesDoNotCount() {
        for (TestCluster cluster : everyMode()) {
            cluster.addNode("node0", K, ready("Unknown", B));
            cluster.addNode("node-master", K, ready("True", B));
            cluster.change(
                    "node-master",
                    node -> TestCluster.label(node, Map.of("node.kubernetes.io/exclude-disruption", "")));

            cluster.start().advance(Duration.ofSeconds(11));

            assertThat(cluster.taints("node0")).containsExactly("node.kubernetes.io/unreachable:NoSchedule");
        }
    }

    @Test
    @Tag("L59")
    @Tag("W7")
    void startWithEverythingDownStripsInTheReferenceOnly() {
        TestCluster ours = ours();
        TestCluster reference = reference();
        for (TestCluster cluster : List.of(ours, reference)) {
            cluster.addNode("node0", K, ready("Unknown", B));
            cluster.change("node0", node -> taint(node, Taint.UNREACHABLE, "NoSchedule"));
            cluster.change("node0", node -> taint(node, Taint.UNREACHABLE, "NoExecute"));
            cluster.addNode("node1", K, ready("Unknown", B));
            cluster.start().advance(Duration.ofSeconds(11));
        }

        assertThat(noExecute(ours, "node0")).containsExactly(UNREACHABLE);
        assertThat(noExecute(ours, "node1")).isEmpty();
        assertThat(reference.taints("node0")).containsExactly("node.kubernetes.io/unreachable:NoSchedule");
        assertThat(noExecute(reference, "node1")).isEmpty();
    }

    @Test
    @Tag("W7")
    void restartLeavesTaintsOfDeadNodesUnlessThatIsSwitchedOff() {
        TestCluster ours = ours();
        TestCluster stripping = new TestCluster(CONFIG.with(FeatureGates.ALL.without(ControllerFeature.KEEP_TAINTS)));
        for (TestCluster cluster : List.of(ours, stripping)) {
            healthy(cluster, 9);
            for (int i = 0; i < 3; i++) {
                fail(cluster, i);
                cluster.change("node" + i, node -> taint(node, Taint.NOT_READY, "NoExecute"));
            }
            cluster.start().advance(Duration.ofMillis(100));
        }

        assertThat(tainted(ours, 9)).containsExactly(0, 1, 2);
        assertThat(tainted(stripping, 9)).hasSize(1);
        stripping.advance(Duration.ofMillis(20_100));
        assertThat(tainted(stripping, 9)).containsExactly(0, 1, 2);
    }

    @Test
    @Tag("L60")
    @Tag("W11")
    void rateOfOneResumesAfterPartialDisruption() {
        ZoneConfig one = new ZoneConfig(1, 0.01f, 50, 0.55f);
        TestCluster ours = new TestCluster(CONFIG.with(one));
        TestCluster reference = new TestCluster(CONFIG.with(one).with(REFERENCE));
        for (TestCluster cluster : List.of(ours, reference)) {
            healthy(cluster, 5);
            cluster.start().advance(Duration.ofSeconds(1));
            IntStream.range(0, 4).forEach(i -> fail(cluster, i));
            cluster.advanceTo("12S");
            IntStream.range(0, 3).forEach(i -> cluster.post("node" + i, ready("True", B.plusSeconds(12))));
            cluster.advanceTo("30S");
        }

        assertThat(tainted(ours, 5)).containsExactly(3);
        assertThat(tainted(reference, 5)).isEmpty();
    }

    @Test
    @Tag("L50")
    @Tag("W15")
    void referenceReadsFromTheCacheFirstAndWritesInTwoSteps() {
        TestCluster cluster = reference();
        healthy(cluster, 2);
        cluster.start().advance(Duration.ofSeconds(1));
        fail(cluster, 0);
        cluster.advance(Duration.ofSeconds(1));
        cluster.transport.clear();
        int[] conflicts = {1};
        cluster.fault = call -> isPatch(call) && conflicts[0]-- > 0
                ? Optional.of(FakeTransport.refusal(ApiException.modified(ResourceType.NODES, "node0")))
                : Optional.empty();

        cluster.post("node0", ready("Unknown", B.plusSeconds(1)));
        cluster.advance(Duration.ofMillis(300));

        assertThat(cluster.taints("node0")).containsExactly("node.kubernetes.io/unreachable:NoSchedule");
        assertThat(cluster.transport.log().stream()
                        .filter(line -> line.contains("/nodes/node0"))
                        .toList())
                .containsExactly(
                        "GET /api/v1/nodes/node0?resourceVersion=0",
                        "PATCH /api/v1/nodes/node0",
                        "GET /api/v1/nodes/node0",
                        "PATCH /api/v1/nodes/node0",
                        "GET /api/v1/nodes/node0?resourceVersion=0",
                        "PATCH /api/v1/nodes/node0");
        assertThat(cluster.transport.calls().stream()
                        .filter(ZonesTest::isPatch)
                        .map(call ->
                                Json.parseObject(call.body()).object("metadata").text("resourceVersion")))
                .allMatch(version -> !version.isEmpty());
    }

    @Test
    @Tag("W17")
    @Tag("W13")
    void waitingNodeKeepsItsPlaceInAnotherZoneAndLeavesTheQueueWhenItIsGone() {
        TestCluster cluster = ours();
        healthy(cluster, 9);
        cluster.start();
        IntStream.range(0, 3).forEach(i -> fail(cluster, i));
        cluster.advance(Duration.ofMillis(10));
        assertThat(tainted(cluster, 9)).containsExactly(0);

        cluster.deleteNode("node1");
        cluster.change("node2", node -> TestCluster.label(node, Map.of("topology.kubernetes.io/zone", "another")));
        cluster.advance(Duration.ofMillis(10));

        assertThat(noExecute(cluster, "node2")).containsExactly(NOT_READY);
        cluster.advance(Duration.ofSeconds(30));
        assertThat(cluster.calls("PATCH", "/nodes/node1")).isEqualTo(1);
    }

    @Test
    @Tag("W8")
    void endOfDampingFreesTheNodeByALiveRead() {
        TestCluster cluster = ours();
        cluster.addNode("n1", K, ready("True", B));
        cluster.change("n1", node -> taint(node, Taint.NOT_READY, "NoExecute"));
        KubeClient client = new KubeClient(cluster.transport, cluster.loop, Duration.ofSeconds(2));
        Heartbeats heartbeats = new Heartbeats(CONFIG, ObserverGuard.off(), new DeadlineWheel<>());
        NodeHealth health = heartbeats.add(cluster.node("n1"), 0, Duration.ZERO);
        Zones zones = new FairZones(
                CONFIG,
                true,
                Duration.ZERO,
                cluster.loop,
                List::of,
                rechecked -> {},
                new ControllerMetrics(),
                cluster.decisions::add);
        boolean[] damped = {true};
        Tainter tainter = new Tainter(
                client,
                Randoms.seeded(1),
                heartbeats,
                new PriorityWorkQueue(4),
                true,
                zones,
                damping -> damped[0],
                cluster.decisions::add,
                (written, node) -> {});
        zones.seen(health, cluster.node("n1"));
        tainter.seen(health, cluster.node("n1"));
        tainter.recheck(health);
        cluster.advance(Duration.ofSeconds(1));
        assertThat(noExecute(cluster, "n1")).containsExactly(NOT_READY);

        damped[0] = false;
        tainter.recheck(health);
        cluster.advance(Duration.ofSeconds(1));

        assertThat(cluster.taints("n1")).isEmpty();
        assertThat(cluster.decisions).extracting(decision -> decision.kind()).containsExactly("Untainted");
    }

    @Test
    @Tag("L45")
    void nodeWithoutAReadyConditionIsNotTainted() {
        for (TestCluster cluster : everyMode()) {
            healthy(cluster, 5);
            fail(cluster, 0);
            fail(cluster, 1);
            cluster.start().advance(Duration.ofMillis(6_000));
            String waiting = tainted(cluster, 5).contains(0) ? "node1" : "node0";
            cluster.change(waiting, node -> node.update("status", status -> status.without("conditions")));

            cluster.advance(Duration.ofSeconds(20));

            assertThat(noExecute(cluster, waiting)).isEmpty();
        }
    }

    @Test
    @Tag("L76")
    void betaLabelsFollowTheStableOnes() {
        TestCluster cluster = ours();
        cluster.addNode("n1", K, ready("True", B));
        cluster.change(
                "n1",
                node -> TestCluster.label(node, Map.of("kubernetes.io/os", "linux", "kubernetes.io/arch", "amd64")));
        cluster.addNode("n2", K, ready("True", B));
        cluster.change(
                "n2",
                node -> TestCluster.label(
                        node,
                        Map.of(
                                "kubernetes.io/os", "linux",
                                "kubernetes.io/arch", "amd64",
                                "beta.kubernetes.io/os", "windows",
                                "beta.kubernetes.io/arch", "arm")));
        cluster.addNode("n3", K, ready("True", B));
        cluster.addNode("n4", K, ready("True", B));
        cluster.change("n4", node -> TestCluster.label(node, Map.of("topology.kubernetes.io/region", "r")));
        int[] failures = {1};
        cluster.fault = call ->
                isPatch(call) && failures[0]-- > 0 ? Optional.of(TestCluster.internalError()) : Optional.empty();

        cluster.start().advance(Duration.ofSeconds(2));

        for (String name : List.of("n1", "n2")) {
            assertThat(cluster.node(name).labels())
                    .containsEntry("beta.kubernetes.io/os", "linux")
                    .containsEntry("beta.kubernetes.io/arch", "amd64");
        }
        assertThat(cluster.node("n3").labels()).isEmpty();
        assertThat(cluster.node("n4").labels()).containsExactly(Map.entry("topology.kubernetes.io/region", "r"));
        assertThat(cluster.transport.calls().stream().filter(ZonesTest::isPatch))
                .hasSize(3);
    }

    private static void healthy(TestCluster cluster, int count) {
        for (int i = 0; i < count; i++) {
            cluster.addNode("node" + i, K, ready("True", B));
        }
    }

    private static void fail(TestCluster cluster, int node) {
        cluster.post("node" + node, ready("False", cluster.time.wallTime().plusMillis(500)));
    }

    private static void inZone(TestCluster cluster, String name, String zone) {
        cluster.addNode(name, K, ready("True", B));
        cluster.change(name, node -> TestCluster.label(node, Map.of("topology.kubernetes.io/zone", zone)));
    }

    private static List<Integer> tainted(TestCluster cluster, int count) {
        return IntStream.range(0, count)
                .filter(i -> !noExecute(cluster, "node" + i).isEmpty())
                .boxed()
                .toList();
    }

    private static List<String> noExecute(TestCluster cluster, String name) {
        return cluster.taints(name).stream()
                .filter(taint -> taint.endsWith(":NoExecute"))
                .toList();
    }

    private static String timeAdded(TestCluster cluster, String name) {
        return cluster.node(name).taints().stream()
                .filter(taint -> taint.effect().equals("NoExecute"))
                .map(taint -> taint.json().text("timeAdded"))
                .findFirst()
                .orElse("none");
    }

    private static boolean isPatch(Call call) {
        return call.method().equals("PATCH") && call.target().contains("/nodes/");
    }
}
