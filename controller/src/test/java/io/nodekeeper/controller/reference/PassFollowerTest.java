package io.nodekeeper.controller.reference;

import static io.nodekeeper.controller.TestCluster.B;
import static io.nodekeeper.controller.TestCluster.CONFIG;
import static io.nodekeeper.controller.TestCluster.K;
import static io.nodekeeper.controller.TestCluster.ready;
import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.api.Lease;
import io.nodekeeper.api.Node;
import io.nodekeeper.api.ResourceType;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.client.Reflector;
import io.nodekeeper.client.Selection;
import io.nodekeeper.controller.TestCluster;
import io.nodekeeper.controller.config.FeatureGates;
import io.nodekeeper.controller.explain.NodeEvents;
import io.prometheus.metrics.model.snapshots.HistogramSnapshot;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What a monitor pass reports to zones and pods. */
class PassFollowerTest {
    private static final Reflector.Handler NO_HANDLER = new Reflector.Handler() {
        @Override
        public void onReplace(List<JsonObject> objects) {}

        @Override
        public void onChange(JsonObject object) {}

        @Override
        public void onDelete(JsonObject object) {}
    };

    private final TestCluster cluster = new TestCluster();
    private final List<String> heard = new ArrayList<>();

    private final PassFollower follower = new PassFollower() {
        @Override
        public void judged(Node node, String observedReady, String currentReady) {
            heard.add(node.name() + " " + observedReady + ">" + currentReady);
        }

        @Override
        public void passEnded() {
            heard.add("end");
        }

        @Override
        public void nodeWentSilent(String name) {
            heard.add("silent " + name);
        }
    };

    @Test
    @Tag("L49")
    void verdictIsObservedOnePassAfterItIsMade() {
        cluster.addNode("n1", K, ready("True", B));
        MonitorPass pass = start(FeatureGates.REFERENCE);
        cluster.advanceTo("54S");
        heard.clear();

        cluster.advanceTo("61S");

        assertThat(heard).containsExactly("n1 True>Unknown", "silent n1", "end", "n1 Unknown>Unknown", "end");
        pass.stop();
    }

    @Test
    @Tag("L2")
    void nodeThatNeverReportedCountsForItsZoneOnly() {
        cluster.addNode("n1", B);

        start(FeatureGates.REFERENCE);

        assertThat(heard).containsExactly("n1 Unknown>", "end");
    }

    @Test
    @Tag("L1")
    void nodeThatNeverReportedIsMarkedWithoutItsPods() {
        cluster.addNode("n1", K);

        start(FeatureGates.REFERENCE);

        assertThat(heard).containsExactly("n1 Unknown>Unknown", "end");
    }

    @Test
    @Tag("L17")
    @Tag("L37")
    void podsOfANodeThatWasNotReadyAreNotMarked() {
        cluster.addNode("n1", K, ready("False", B));
        start(FeatureGates.REFERENCE);

        cluster.advanceTo("10M");

        assertThat(heard).contains("n1 False>Unknown").doesNotContain("silent n1");
        assertThat(cluster.events("NodeNotReady")).isEmpty();
    }

    @Test
    @Tag("L20")
    void nodeThatCannotBeWrittenIsLeftOutOfThePass() {
        cluster.addNode("n1", K, ready("True", B));
        cluster.fault =
                call -> call.method().equals("PUT") ? Optional.of(TestCluster.internalError()) : Optional.empty();
        start(FeatureGates.REFERENCE);
        cluster.advanceTo("54S");
        heard.clear();

        cluster.advanceTo("56S");

        assertThat(heard).containsExactly("end");
    }

    @Test
    @Tag("L80")
    @Tag("W2")
    void slowPassDoesNotHarmANodeThatRenews() {
        for (int i = 0; i < 8; i++) {
            cluster.addNode("dead" + i, K, ready("True", B));
        }
        cluster.addNode("n1", K, ready("True", B));
        cluster.hangs =
                call -> call.method().equals("PUT") && cluster.time.wallTime().isBefore(B.plusSeconds(85));
        start(FeatureGates.REFERENCE);

        for (int second = 8; second <= 300; second += 10) {
            cluster.advanceTo(second + "S");
            cluster.renew("n1", B.plusSeconds(second));
        }

        assertThat(cluster.ready("dead0")).isEqualTo("Unknown");
        assertThat(cluster.calls("PUT", "/n1/status")).isZero();
        // All eight workers wait for their writes, for 10 s from 55 s and from 70 s on; the next pass begins at 85 s.
        assertThat(heard.stream().filter("end"::equals)).hasSize(11 + 2 + 43);
    }

    @Test
    @Tag("L56")
    void restartedGracesAreWholeOnes() {
        cluster.addNode("n1", K, ready("True", B));
        MonitorPass pass = start(FeatureGates.REFERENCE);
        cluster.advanceTo("40S");

        pass.restartGraces();

        cluster.advanceTo("91S");
        assertThat(cluster.ready("n1")).isEqualTo("True");
        cluster.advanceTo("96S");
        assertThat(cluster.ready("n1")).isEqualTo("Unknown");
    }

    @Test
    void passesAreMeasured() {
        cluster.addNode("n1", K, ready("True", B));
        start(FeatureGates.REFERENCE);

        cluster.advanceTo("20S");

        assertThat(cluster.ports.metrics().registry().scrape(name -> name.contains("update_")).stream()
                        .map(snapshot -> snapshot.getMetadata().getName()
                                + " "
                                + ((HistogramSnapshot) snapshot)
                                        .getDataPoints()
                                        .getFirst()
                                        .getCount()))
                .containsExactlyInAnyOrder(
                        "node_collector_update_node_health_duration_seconds 5",
                        "node_collector_update_all_nodes_health_duration_seconds 5");
    }

    /** The pass alone, without a controller around it, from now on. */
    private MonitorPass start(FeatureGates gates) {
        MonitorPass pass = new MonitorPass(
                CONFIG,
                ReferenceRules.of(gates),
                new MonitorPass.Ports(cluster.loop, cluster.ports.random(), cluster.ports.metrics()),
                cluster.ports.history(),
                cluster.ports.client(),
                new NodeEvents(cluster.ports.recorders().apply("node-controller")),
                follower,
                NO_HANDLER,
                NO_HANDLER);
        follow(Selection.inNamespace(ResourceType.LEASES, Lease.NODE_NAMESPACE), pass.leases());
        follow(Selection.all(ResourceType.NODES), pass.nodes());
        cluster.advance(Duration.ZERO);
        pass.start();
        cluster.advance(Duration.ZERO);
        return pass;
    }

    private void follow(Selection selection, Reflector.Handler handler) {
        new Reflector(cluster.ports.client(), selection, cluster.ports.random(), handler).start();
    }
}
