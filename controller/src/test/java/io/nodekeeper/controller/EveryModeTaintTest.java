package io.nodekeeper.controller;

import static io.nodekeeper.controller.TestCluster.B;
import static io.nodekeeper.controller.TestCluster.K;
import static io.nodekeeper.controller.TestCluster.condition;
import static io.nodekeeper.controller.TestCluster.ready;
import static org.assertj.core.api.Assertions.assertThat;

import io.prometheus.metrics.model.snapshots.GaugeSnapshot;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/** Taints, labels and counts of zones with the same outcome in every mode. */
@ParameterizedClass
@EnumSource(Mode.class)
class EveryModeTaintTest {
    private static final String HEALTH = "node_collector_zone_health";
    private static final String SIZE = "node_collector_zone_size";
    private static final String UNHEALTHY = "node_collector_unhealthy_nodes_in_zone";

    private final Mode mode;
    private final TestCluster cluster;

    EveryModeTaintTest(Mode mode) {
        this.mode = mode;
        this.cluster = mode.cluster();
    }

    @Test
    @Tag("L39")
    void nodeWithoutNetworkHasThatTaintOnly() {
        cluster.addNode("n1", K, ready("True", B), condition("NetworkUnavailable", "True", B));

        cluster.start().advance(Duration.ofSeconds(11));

        assertThat(cluster.taints("n1")).containsExactly("node.kubernetes.io/network-unavailable:NoSchedule");
    }

    @Test
    @Tag("L40")
    void notReadyAndUnreachableReplaceEachOther() {
        cluster.addNode("n1", K, ready("False", B));
        cluster.start().advance(Duration.ofSeconds(1));
        assertThat(cluster.taints("n1")).containsExactly("node.kubernetes.io/not-ready:NoSchedule");

        cluster.post("n1", ready("Unknown", B.plusSeconds(1)));
        cluster.advance(Duration.ofSeconds(1));

        assertThat(cluster.taints("n1")).containsExactly("node.kubernetes.io/unreachable:NoSchedule");
    }

    @Test
    @Tag("L41")
    void silentNodeIsUnreachableAndUnderNoPressure() {
        cluster.addNode("n1", K, ready("True", B), condition("MemoryPressure", "True", B));
        cluster.start().advance(Duration.ofSeconds(1));
        assertThat(cluster.taints("n1")).containsExactly("node.kubernetes.io/memory-pressure:NoSchedule");

        mode.advanceToVerdict(cluster, 50);

        assertThat(cluster.taints("n1")).containsExactly("node.kubernetes.io/unreachable:NoSchedule");
    }

    @Test
    @Tag("L42")
    void cordonIsTaintedAndForeignTaintsStay() {
        cluster.addNode("n1", K, ready("True", B));
        cluster.change("n1", node -> TestCluster.cordon(TestCluster.taint(node, "dedicated", "NoSchedule"), true));
        cluster.start().advance(Duration.ofSeconds(1));
        assertThat(cluster.taints("n1"))
                .containsExactly("dedicated:NoSchedule", "node.kubernetes.io/unschedulable:NoSchedule");

        cluster.change("n1", node -> TestCluster.cordon(node, false));
        cluster.advance(Duration.ofSeconds(1));

        assertThat(cluster.taints("n1")).containsExactly("dedicated:NoSchedule");
    }

    @Test
    @Tag("L37")
    void nodeThatSaysItIsNotReadyIsTaintedWithinASecondAndWithoutEvent() {
        cluster.addNode("n1", K, ready("True", B));
        cluster.start().advanceTo("7S");

        cluster.post("n1", ready("False", B.plusSeconds(7)));
        cluster.advance(Duration.ofMillis(999));

        assertThat(cluster.noSchedule("n1")).containsExactly("node.kubernetes.io/not-ready");
        cluster.advance(Duration.ofSeconds(20));
        assertThat(cluster.events("NodeNotReady")).isEmpty();
    }

    @Test
    @Tag("L2")
    void nodeThatHasNotReportedYetCountsAsNotReady() {
        cluster.addNode("n1", B);

        cluster.start().advance(Duration.ofSeconds(1));

        assertThat(gauge(SIZE)).isEqualTo(1);
        assertThat(gauge(UNHEALTHY)).isEqualTo(1);
        assertThat(cluster.calls("PUT", "/nodes/n1/status")).isZero();
    }

    @Test
    @Tag("L23")
    void zoneOfANodeWhoseReadyConditionVanishedIsFullyDisrupted() {
        cluster.addNode("n1", K, ready("True", B));
        cluster.start().advanceTo("20S");
        assertThat(gauge(HEALTH)).isEqualTo(100);

        cluster.change("n1", node -> node.update("status", status -> status.without("conditions")));
        mode.advanceToVerdict(cluster, 60);
        cluster.advance(Duration.ofSeconds(11));

        assertThat(cluster.ready("n1")).isEqualTo("Unknown");
        assertThat(gauge(HEALTH)).isZero();
        assertThat(cluster.taints("n1")).containsExactly("node.kubernetes.io/unreachable:NoSchedule");
    }

    @Test
    @Tag("L54")
    void zoneWithoutAnyStatusIsFullyDisruptedAndPartlySoWithItsFirstReadyNode() {
        for (int i = 0; i < 4; i++) {
            cluster.addNode("n" + i, K);
        }
        cluster.start().advance(Duration.ofSeconds(11));
        assertThat(gauge(HEALTH)).isZero();
        assertThat(gauge(UNHEALTHY)).isEqualTo(4);

        cluster.post("n3", ready("True", B.plusSeconds(11)));
        cluster.advance(Duration.ofSeconds(11));

        // Three of four are down: a small zone is not tainted at all then.
        assertThat(gauge(HEALTH)).isEqualTo(25);
        assertThat(cluster.taints("n0")).containsExactly("node.kubernetes.io/unreachable:NoSchedule");
        assertThat(cluster.taints("n3")).isEmpty();
    }

    @Test
    @Tag("L57")
    void excludedNodeIsNotCounted() {
        cluster.addNode("node0", K, ready("Unknown", B));
        cluster.addNode("node-master", K, ready("True", B));
        cluster.change(
                "node-master", node -> TestCluster.label(node, Map.of("node.kubernetes.io/exclude-disruption", "")));

        cluster.start().advance(Duration.ofSeconds(11));

        assertThat(gauge(SIZE)).isEqualTo(1);
        assertThat(gauge(HEALTH)).isZero();
    }

    @Test
    void zonesThatComeAndGoLeaveNoMetrics() {
        // given 1,000 zones of one node each
        cluster.addNode("stays", K, ready("True", B));
        for (int zone = 0; zone < 1_000; zone++) {
            Map<String, String> label = Map.of("topology.kubernetes.io/zone", "z" + zone);
            cluster.addNode("n" + zone, K, ready("True", B));
            cluster.change("n" + zone, node -> TestCluster.label(node, label));
        }
        cluster.start().advance(Duration.ofSeconds(11));
        assertThat(zoneLines()).hasSize(4 * 1_001);
        // when their nodes are deleted
        for (int zone = 0; zone < 1_000; zone++) {
            cluster.deleteNode("n" + zone);
        }
        cluster.advance(Duration.ofSeconds(11));
        // then only the zone of the other node is left
        assertThat(zoneLines()).hasSize(4);
    }

    private List<String> zoneLines() {
        String text = new String(cluster.ports.metrics().scrape(), StandardCharsets.UTF_8);
        return text.lines().filter(line -> line.contains("zone=\"")).toList();
    }

    @Test
    @Tag("L76")
    void betaLabelsFollowTheStableOnes() {
        cluster.addNode("none", K, ready("True", B));
        cluster.addNode("missing", K, ready("True", B));
        cluster.addNode("wrong", K, ready("True", B));
        cluster.addNode("region", K, ready("True", B));
        Map<String, String> stable = Map.of("kubernetes.io/os", "linux", "kubernetes.io/arch", "amd64");
        cluster.change("missing", node -> TestCluster.label(node, stable));
        cluster.change("wrong", node -> TestCluster.label(node, stable));
        cluster.change(
                "wrong",
                node -> TestCluster.label(
                        node, Map.of("beta.kubernetes.io/os", "windows", "beta.kubernetes.io/arch", "arm")));
        cluster.change("region", node -> TestCluster.label(node, Map.of("topology.kubernetes.io/region", "region1")));

        cluster.start().advance(Duration.ofSeconds(2));

        for (String name : new String[] {"missing", "wrong"}) {
            assertThat(cluster.node(name).labels())
                    .containsEntry("beta.kubernetes.io/os", "linux")
                    .containsEntry("beta.kubernetes.io/arch", "amd64")
                    .hasSize(4);
        }
        assertThat(cluster.node("none").labels()).isEmpty();
        assertThat(cluster.node("region").labels())
                .containsExactly(Map.entry("topology.kubernetes.io/region", "region1"));
    }

    /** The only value of a gauge. */
    private double gauge(String name) {
        return cluster.ports.metrics().registry().scrape(name::equals).stream()
                .flatMap(snapshot -> ((GaugeSnapshot) snapshot).getDataPoints().stream())
                .findFirst()
                .orElseThrow()
                .getValue();
    }
}
