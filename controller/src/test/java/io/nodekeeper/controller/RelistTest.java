package io.nodekeeper.controller;

import static io.nodekeeper.controller.TestCluster.B;
import static io.nodekeeper.controller.TestCluster.K;
import static io.nodekeeper.controller.TestCluster.ready;
import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.api.ResourceType;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A list of all nodes takes seconds, and shows the moment at which it began. */
class RelistTest {
    private static final List<String> UNREACHABLE =
            List.of("node.kubernetes.io/unreachable:NoSchedule", "node.kubernetes.io/unreachable:NoExecute");

    private final TestCluster cluster = new TestCluster();

    /** Lists of nodes that begin from now on take 8 s. */
    private void listSlowly() {
        cluster.latency =
                call -> call.target().startsWith("/api/v1/nodes?limit") ? Duration.ofSeconds(8) : Duration.ZERO;
    }

    private void begin() {
        for (String name : List.of("n1", "other1", "other2", "other3")) {
            cluster.addNode(name, K, ready("True", B));
            cluster.renew(name, B);
        }
        cluster.start();
    }

    private void renewOthersUntil(int end) {
        for (int second = (int) cluster.time.elapsed().toSeconds() + 1; second <= end; second++) {
            cluster.advanceTo(second + "S");
            for (String name : List.of("other1", "other2", "other3")) {
                cluster.renew(name, B.plusSeconds(second));
            }
        }
    }

    @Test
    void aListThatBeganBeforeAVerdictDoesNotUndoIt() {
        // given a node that is silent, and a list that begins before its verdict and arrives after it
        begin();
        renewOthersUntil(45);
        listSlowly();
        cluster.loseHistory();
        renewOthersUntil(52);
        assertThat(cluster.ready("n1")).isEqualTo("Unknown");
        assertThat(cluster.taints("n1")).containsExactlyInAnyOrderElementsOf(UNREACHABLE);

        // when the list arrives, and the watch sends what happened since it began
        renewOthersUntil(54);
        assertThat(cluster.facts("n1").text("ready")).isEqualTo("Unknown");
        cluster.broadcast(ResourceType.NODES, "MODIFIED", cluster.node("n1").json());
        renewOthersUntil(70);

        // then the node did not return, and lost Ready once
        assertThat(cluster.decisions("Returned")).isEmpty();
        assertThat(cluster.decisions("Unknown")).hasSize(1);
        assertThat(cluster.metric("nodekeeper_node_flaps_total")).isEqualTo("1.0");
        assertThat(cluster.taints("n1")).containsExactlyInAnyOrderElementsOf(UNREACHABLE);
    }

    @Test
    void aListOfRestoredDataIsTakenAlthoughItsVersionsAreLower() {
        // given nodes with high versions
        cluster.versionPrefix = "9";
        begin();
        renewOthersUntil(20);

        // when the server is restored from a snapshot with lower versions, in which the node is not ready
        cluster.versionPrefix = "";
        cluster.post("n1", ready("False", B.minusSeconds(60)));
        assertThat(cluster.facts("n1").text("ready"))
                .as("a watch with lower versions")
                .isEqualTo("True");
        listSlowly();
        cluster.loseHistory();
        renewOthersUntil(30);

        // then its list counts
        assertThat(cluster.facts("n1").text("ready")).isEqualTo("False");
    }
}
