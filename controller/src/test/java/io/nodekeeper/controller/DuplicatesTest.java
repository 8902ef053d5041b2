package io.nodekeeper.controller;

import static io.nodekeeper.controller.TestCluster.B;
import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.api.json.JsonArray;
import io.nodekeeper.api.json.JsonObject;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** Two machines report under one name, each every 10 s. The cluster is told, and no verdict changes. */
class DuplicatesTest {
    private static final String TEXT =
            "two machines report under this node's name: boot id 0e6b1a52 at 10.0.0.7, and boot id 9c1d44fe at 10.0.0.8";

    private final TestCluster cluster = new TestCluster();

    @Test
    void twoMachinesWithOneNameAreADecisionAnEventAMetricAndAFact() {
        begin();
        takeTurns(10, 30);

        assertThat(cluster.decisions("DuplicateNode")).containsExactly("2015-01-01T12:00:25Z n1: " + TEXT);
        assertThat(cluster.events("DuplicateNode")).containsExactly("Warning DuplicateNode Node n1-uid: " + TEXT);
        assertThat(cluster.metric("nodekeeper_duplicate_nodes")).isEqualTo("1.0");
        assertThat(cluster.facts("n1").text("duplicate")).isEqualTo(TEXT);
        JsonObject listed = status().array("duplicates").objects().findFirst().orElseThrow();
        assertThat(listed.text("name")).isEqualTo("n1");
        assertThat(listed.text("machines")).isEqualTo(TEXT);
        assertThat(cluster.ready("n1")).isEqualTo("True");
        assertThat(cluster.taints("n1")).isEmpty();
    }

    @Test
    void endIsADecisionAndAnEvent() {
        begin();
        takeTurns(10, 60);
        for (int second = 70; second <= 800; second += 10) {
            cluster.advanceTo(second + "S");
            report("9c1d44fe", "10.0.0.8");
        }

        String text = "no two machines have taken turns for 10 minutes; one machine reports under this node's name";
        assertThat(cluster.events("DuplicateNodeEnded"))
                .containsExactly("Normal DuplicateNodeEnded Node n1-uid: " + text);
        assertThat(cluster.decisions("DuplicateNodeEnded")).hasSize(1);
        assertThat(cluster.metric("nodekeeper_duplicate_nodes")).isEqualTo("0.0");
        assertThat(cluster.facts("n1").has("duplicate")).isFalse();
        assertThat(status().array("duplicates").items()).isEmpty();
    }

    @Test
    void deletedNodeIsForgotten() {
        begin();
        takeTurns(10, 60);

        cluster.deleteNode("n1");
        cluster.advance(Duration.ofSeconds(1));

        assertThat(cluster.metric("nodekeeper_duplicate_nodes")).isEqualTo("0.0");
    }

    @Test
    void rebootIsNoSecondMachine() {
        begin();
        for (int second = 10; second <= 200; second += 10) {
            cluster.advanceTo(second + "S");
            report(second < 100 ? "before" : "after", "10.0.0.7");
        }

        assertThat(cluster.decisions("DuplicateNode")).isEmpty();
        assertThat(cluster.metric("nodekeeper_duplicate_nodes")).isEqualTo("0.0");
    }

    private void begin() {
        cluster.addNode("n1", B, TestCluster.ready("True", B));
        cluster.renew("n1", B);
        cluster.start();
    }

    private void takeTurns(int from, int to) {
        for (int second = from; second <= to; second += 10) {
            cluster.advanceTo(second - 5 + "S");
            report("0e6b1a52", "10.0.0.7");
            cluster.advanceTo(second + "S");
            report("9c1d44fe", "10.0.0.8");
        }
    }

    private void report(String bootId, String address) {
        cluster.change(
                "n1",
                node -> node.update(
                        "status",
                        status -> status.with("nodeInfo", JsonObject.EMPTY.with("bootID", bootId))
                                .with(
                                        "addresses",
                                        JsonArray.of(JsonObject.EMPTY
                                                .with("type", "InternalIP")
                                                .with("address", address)))));
        cluster.renew("n1", B.plus(cluster.time.elapsed()));
    }

    private JsonObject status() {
        CompletableFuture<JsonObject> read = cluster.controller.view().status();
        cluster.advance(Duration.ZERO);
        return read.join();
    }
}
