package io.nodekeeper.controller;

import static io.nodekeeper.controller.TestCluster.B;
import static io.nodekeeper.controller.TestCluster.K;
import static io.nodekeeper.controller.TestCluster.ready;
import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.api.ApiException;
import io.nodekeeper.api.ResourceType;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.client.FakeTransport;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** An exception anywhere in the write of a node's taints or labels delays the write, but does not prevent it. */
class StuckTaintTest {

    /**
     * Throws at one step of all writes to and reads of the node, and of the decisions about its taints; counts them.
     */
    private static int run(int at) {
        TestCluster cluster = new TestCluster();
        int[] steps = {0};
        boolean[] conflict = {false};
        Runnable step = () -> {
            if (++steps[0] == at) {
                throw new IllegalStateException("on purpose, at step " + at);
            }
        };
        cluster.addNode("n1", K, ready("True", B));
        cluster.change("n1", node -> TestCluster.label(node, Map.of("kubernetes.io/os", "linux")));
        cluster.fault = call -> {
            if (!call.target().contains("/nodes/n1")) {
                return Optional.empty();
            }
            step.run();
            if (call.method().equals("PATCH") && !conflict[0]) {
                // so that the node is read, too
                conflict[0] = true;
                return Optional.of(FakeTransport.refusal(ApiException.modified(ResourceType.NODES, "n1")));
            }
            return Optional.empty();
        };
        cluster.deciding = decision -> {
            if (decision.kind().endsWith("ainted")) {
                step.run();
            }
        };
        cluster.start();
        cluster.advanceTo("5S");
        cluster.post("n1", ready("False", B.plusSeconds(5)));
        cluster.advanceTo("40S");
        assertThat(cluster.noSchedule("n1"))
                .as("thrown at step %d", at)
                .containsExactly("node.kubernetes.io/not-ready");

        cluster.post("n1", ready("True", B.plusSeconds(40)));
        cluster.advance(Duration.ofSeconds(30));

        assertThat(cluster.taints("n1")).as("thrown at step %d", at).isEmpty();
        JsonObject labels = cluster.node("n1").metadata().object("labels");
        assertThat(labels.text("beta.kubernetes.io/os"))
                .as("thrown at step %d", at)
                .isEqualTo("linux");
        return steps[0];
    }

    @Test
    void exceptionAtAnyStepDelaysNoMoreThanTheJob() {
        int steps = run(0);
        assertThat(steps).as("calls and decisions").isGreaterThan(5);
        for (int at = 1; at <= steps; at++) {
            run(at);
        }
    }
}
