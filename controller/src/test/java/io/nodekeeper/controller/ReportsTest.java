package io.nodekeeper.controller;

import static io.nodekeeper.controller.TestCluster.B;
import static io.nodekeeper.controller.TestCluster.K;
import static io.nodekeeper.controller.TestCluster.ready;
import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.api.Taint;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.controller.config.ControllerFeature;
import io.nodekeeper.controller.config.FeatureGates;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** Pages, metrics and log lines are right in each mode and after each fault. */
class ReportsTest {
    @Test
    void pageOfANodeShowsItsSilenceAfterBlindness() {
        TestCluster cluster = new TestCluster();
        cluster.addNode("n1", K, ready("True", B));
        cluster.renew("n1", B);
        cluster.start();
        cluster.advanceTo("10S");
        cluster.down = true;
        cluster.advanceTo("70S");
        cluster.down = false;
        cluster.advanceTo("100S");
        cluster.renew("n1", B.plusSeconds(100));
        cluster.advanceTo("101S");

        CompletableFuture<Optional<JsonObject>> page = cluster.controller.view().node("n1");
        cluster.advance(Duration.ZERO);

        assertThat(page.join().orElseThrow().text("silentFor")).isEqualTo("1s");
        assertThat(page.join().orElseThrow().text("lastSignalAt")).isEqualTo("2015-01-01T12:01:40.000000Z");
    }

    @Test
    void delayOfAVerdictIsNeverNegative() {
        TestCluster cluster = new TestCluster();
        cluster.addNode("n1", K, ready("True", B));
        cluster.renew("n1", B);
        cluster.fault = call -> {
            if (call.method().equals("PUT")) {
                cluster.renew("n1", B.plusSeconds(50));
            }
            return Optional.empty();
        };
        cluster.start();
        cluster.advanceTo("51S");

        assertThat(cluster.ready("n1")).isEqualTo("Unknown");
        String scrape = new String(cluster.ports.metrics().scrape(), StandardCharsets.UTF_8);
        assertThat(scrape).doesNotContain("nodekeeper_detection_delay_seconds_sum -");
    }

    @Test
    void withoutCanariesTheControllerDoesNotSayThatItIsBlind() {
        TestCluster cluster = new TestCluster(
                TestCluster.CONFIG.with(FeatureGates.ALL.without(ControllerFeature.WATCH_DRIVEN_DEADLINES)));
        cluster.addNode("n1", K, ready("True", B));
        cluster.start();
        cluster.advanceTo("20S");

        CompletableFuture<JsonObject> page = cluster.controller.view().sight();
        cluster.advance(Duration.ZERO);

        assertThat(page.join().toString()).contains("\"sees\":true");
    }

    @Test
    void withoutExplanationsNothingIsKept() {
        TestCluster cluster =
                new TestCluster(TestCluster.CONFIG.with(FeatureGates.ALL.without(ControllerFeature.EXPLAIN_VERDICTS)));
        cluster.addNode("n1", K, ready("True", B));
        cluster.start();
        cluster.advanceTo("60S");

        assertThat(cluster.decisions).isEmpty();
    }

    @Test
    void queuesHaveTheNamesOfKubernetes() {
        TestCluster cluster = new TestCluster();
        cluster.addNode("n1", K, ready("True", B));
        cluster.renew("n1", B);
        cluster.start();
        cluster.advanceTo("51S");

        // One verdict, and one write of taints after it.
        assertThat(cluster.metric("workqueue_adds_total{name=\"node_lifecycle_controller\"}"))
                .isEqualTo("2.0");
        assertThat(cluster.metric("workqueue_depth{name=\"node_lifecycle_controller\"}"))
                .isEqualTo("0.0");
    }

    @Test
    void evictionsHaveTheQueuesOfTheTaintEvictionController() {
        TestCluster cluster = new TestCluster();
        cluster.addNode("n1", K, ready("True", B));
        cluster.renew("n1", B);
        cluster.pods.add("pod1", "n1");
        cluster.start();
        cluster.advanceTo("1S");
        cluster.change("n1", node -> TestCluster.taint(node, "k", Taint.NO_EXECUTE));
        cluster.advanceTo("5S");

        // The node when it was seen first and when its taints changed, and the eviction of its pod.
        assertThat(cluster.metric("workqueue_adds_total{name=\"noexec_taint_node\"}"))
                .isEqualTo("2.0");
        assertThat(cluster.metric("workqueue_adds_total{name=\"noexec_taint_pod\"}"))
                .isEqualTo("1.0");
        assertThat(cluster.metric("workqueue_depth{name=\"noexec_taint_node\"}"))
                .isEqualTo("0.0");
        assertThat(cluster.metric("workqueue_depth{name=\"noexec_taint_pod\"}")).isEqualTo("0.0");
    }
}
