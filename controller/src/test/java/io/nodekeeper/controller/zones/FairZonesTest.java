package io.nodekeeper.controller.zones;

import static io.nodekeeper.controller.TestCluster.B;
import static io.nodekeeper.controller.TestCluster.CONFIG;
import static io.nodekeeper.controller.TestCluster.K;
import static io.nodekeeper.controller.TestCluster.ready;
import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.api.Taint;
import io.nodekeeper.controller.TestCluster;
import io.nodekeeper.controller.heartbeats.NodeHealth;
import io.nodekeeper.controller.history.History;
import io.nodekeeper.controller.metrics.ControllerMetrics;
import io.nodekeeper.controller.taints.NoExecute;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Permits of one zone, whose rate is one in ten seconds, without the writes that follow. */
class FairZonesTest {
    /** Holds the nodes; its own controller does not run. */
    private final TestCluster cluster = new TestCluster();

    private final List<NodeHealth> nodes = new ArrayList<>();
    /** The names of the nodes whose taints were to be checked. */
    private final List<String> rechecked = new ArrayList<>();

    private final FairZones zones = new FairZones(
            CONFIG,
            true,
            Duration.ZERO,
            cluster.loop,
            List::of,
            health -> rechecked.add(health.name()),
            new ControllerMetrics(),
            History.NONE);

    private void zone(int size) {
        zones.listing();
        for (int i = 0; i < size; i++) {
            cluster.addNode("node" + i, K, ready("True", B));
            nodes.add(new NodeHealth("node" + i));
            seen(i);
        }
        zones.listed();
    }

    private void is(int node, String status) {
        cluster.post("node" + node, ready(status, cluster.time.wallTime()));
        seen(node);
    }

    private void seen(int node) {
        zones.seen(nodes.get(node), cluster.node("node" + node));
    }

    private NoExecute rule(int node) {
        return zones.rule(nodes.get(node));
    }

    @Test
    void nodeWhoseWriteEndedAfterItsPermitTakesNoTurnOfTheOthers() {
        zone(4);
        // given a node whose write begins, and ends only when no node may get a taint any more
        is(0, "False");
        assertThat(rule(0)).isEqualTo(NoExecute.ADD);
        is(1, "False");
        is(2, "False");
        is(3, "False");
        assertThat(rule(0)).isEqualTo(NoExecute.STRIP);
        cluster.advance(Duration.ofSeconds(1));
        zones.settled(nodes.get(0), true);
        cluster.change("node0", node -> TestCluster.taint(node, Taint.NOT_READY, Taint.NO_EXECUTE));
        seen(0);

        // when the zone recovers
        is(2, "True");
        is(3, "True");

        // then the next node has the first turn
        cluster.advance(Duration.ofMillis(9_900));
        assertThat(rule(1)).isEqualTo(NoExecute.FOLLOW);
        cluster.advance(Duration.ofMillis(200));
        assertThat(rule(1)).isEqualTo(NoExecute.ADD);
        assertThat(rule(0)).isEqualTo(NoExecute.FOLLOW);
    }

    @Test
    void nodeWhoseTaintWasRemovedBeforeItsLateWriteEndedKeepsItsTurn() {
        zone(4);
        is(0, "False");
        is(1, "False");
        is(2, "False");
        is(3, "False");
        // given that somebody has removed the taint, and only then the answer to its write comes
        cluster.change("node0", node -> TestCluster.taint(node, Taint.NOT_READY, Taint.NO_EXECUTE));
        seen(0);
        cluster.advance(Duration.ofSeconds(1));
        cluster.change("node0", node -> node.update("spec", spec -> spec.without("taints")));
        seen(0);
        zones.settled(nodes.get(0), true);

        is(2, "True");
        is(3, "True");
        cluster.advance(Duration.ofMillis(20_100));

        assertThat(rule(1)).isEqualTo(NoExecute.ADD);
        assertThat(rule(0)).isEqualTo(NoExecute.ADD);
    }

    @Test
    void nodeWhosePermitIsWithdrawnIsCheckedAgain() {
        zone(4);
        is(0, "False");
        is(1, "False");
        assertThat(rechecked).isEmpty();

        // when so many nodes of a small zone are not ready that none may get a taint
        is(2, "False");

        assertThat(rechecked).containsExactly("node0");
    }

    @Test
    void nodeWhosePermitEndsIsCheckedAgain() {
        zone(20);
        for (int i = 0; i < 5; i++) {
            is(i, "False");
        }
        // given three permits, whose writes do not end
        cluster.advance(Duration.ofMillis(59_900));
        assertThat(rechecked).containsExactly("node1", "node2");

        cluster.advance(Duration.ofMillis(200));

        assertThat(rechecked).containsExactly("node1", "node2", "node0", "node3");
        assertThat(rule(0)).isEqualTo(NoExecute.FOLLOW);
    }
}
