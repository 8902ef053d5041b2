package io.nodekeeper.controller;

import static io.nodekeeper.controller.TestCluster.B;
import static io.nodekeeper.controller.TestCluster.K;
import static io.nodekeeper.controller.TestCluster.ready;
import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.api.json.JsonObject;
import org.junit.jupiter.api.Test;

/** A recreated node is another node, even if the watch does not deliver the deletion of the old one. */
class ReplacedNodeTest {
    private final TestCluster cluster = new TestCluster();

    @Test
    void nodeOfTheSameNameHasItsWholeGraceThoughNoDeletionWasSeen() {
        cluster.addNode("n1", "old-uid", K, ready("True", B));
        cluster.start();
        cluster.advanceTo("45S");

        replaceUnseen();

        cluster.advanceTo("94S");
        assertThat(cluster.ready("n1")).isEqualTo("True");
        assertThat(cluster.events("RegisteredNode"))
                .hasSize(2)
                .last()
                .asString()
                .contains("new-uid");
        cluster.advanceTo("95.100S");
        assertThat(cluster.ready("n1")).isEqualTo("Unknown");
    }

    @Test
    void lateDeletionEventOfTheOldNodeKeepsTheNewOne() {
        cluster.addNode("n1", "old-uid", K, ready("True", B));
        JsonObject old = cluster.node("n1").json();
        cluster.start();
        cluster.advanceTo("45S");
        replaceUnseen();

        cluster.transport.watches().stream()
                .filter(watch -> watch.call().target().contains("/nodes?"))
                .forEach(watch -> watch.event("DELETED", old));

        assertThat(cluster.facts("n1").text("uid")).isEqualTo("new-uid");
        cluster.advanceTo("95.100S");
        assertThat(cluster.ready("n1")).isEqualTo("Unknown");
    }

    @Test
    void nodeThatWasReplacedWhileTheHistoryOfTheWatchWasLostHasItsWholeGrace() {
        cluster.addNode("n1", "old-uid", K, ready("True", B));
        cluster.start();
        cluster.advanceTo("45S");
        cluster.loseHistory();
        cluster.deleteNode("n1");
        cluster.addNode("n1", "new-uid", B.plusSeconds(45), ready("True", B.plusSeconds(45)));

        // It is listed again within 2 s.
        cluster.advanceTo("94S");
        assertThat(cluster.ready("n1")).isEqualTo("True");
        assertThat(cluster.facts("n1").text("uid")).isEqualTo("new-uid");
        assertThat(cluster.events("RegisteredNode")).hasSize(2);
        cluster.advanceTo("98S");
        assertThat(cluster.ready("n1")).isEqualTo("Unknown");
    }

    @Test
    void nodeWhoseReadyConditionIsTakenAwayIsWatchedAgain() {
        cluster.addNode("n1", K, ready("True", B));
        cluster.start();
        cluster.advanceTo("55S");
        assertThat(cluster.ready("n1")).isEqualTo("Unknown");

        cluster.change("n1", node -> node.update("status", status -> status.without("conditions")));
        assertThat(cluster.ready("n1")).isEqualTo("none");

        cluster.advanceTo("61S");
        assertThat(cluster.ready("n1"))
                .as("the grace of a node without a report is 60 s")
                .isEqualTo("Unknown");
    }

    private void replaceUnseen() {
        cluster.wire =
                event -> event.contains("\"DELETED\"") ? "{\"type\":\"BOOKMARK\",\"object\":{\"metadata\":{}}}" : event;
        cluster.deleteNode("n1");
        cluster.addNode("n1", "new-uid", B.plusSeconds(45), ready("True", B.plusSeconds(45)));
    }
}
