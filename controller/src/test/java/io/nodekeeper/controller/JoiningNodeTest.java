package io.nodekeeper.controller;

import static io.nodekeeper.controller.TestCluster.B;
import static io.nodekeeper.controller.TestCluster.K;
import static io.nodekeeper.controller.TestCluster.ready;
import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.api.Condition;
import io.nodekeeper.api.json.Json;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * A kubelet registers its node with Ready=False and sets it to True when container runtime and network are up. The
 * reference sees the node in its next monitor pass, at most one period later, and then queues it for the taint.
 */
class JoiningNodeTest {
    private static final String NO_SCHEDULE = "node.kubernetes.io/not-ready:NoSchedule";
    private static final String NO_EXECUTE = "node.kubernetes.io/not-ready:NoExecute";

    private final TestCluster cluster = new TestCluster();

    /** The conditions with which a kubelet of 1.26 registers its node. */
    private static Condition[] registered(Instant at, String ready, String reason, String message) {
        return new Condition[] {
            pressure("MemoryPressure", "KubeletHasSufficientMemory", at),
            pressure("DiskPressure", "KubeletHasNoDiskPressure", at),
            pressure("PIDPressure", "KubeletHasSufficientPID", at),
            Condition.of("Ready", ready, reason, message, at, at)
        };
    }

    private static Condition pressure(String type, String reason, Instant at) {
        return Condition.of(type, "False", reason, "kubelet has enough", at, at);
    }

    /** Starts with one node that is Ready, so that the zone has a token and is not down. */
    private void start() {
        cluster.addNode("old", K, ready("True", B));
        cluster.start();
        cluster.advanceTo("1.7S");
    }

    private void join(String name) {
        Instant at = cluster.time.wallTime();
        cluster.addNode(
                name,
                at,
                registered(
                        at,
                        "False",
                        "KubeletNotReady",
                        "[container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady"
                                + " message:Network plugin returns error: cni plugin not initialized,"
                                + " CSINode is not yet initialized]"));
        cluster.renew(name, at, name);
    }

    private List<String> patchedTaints(String name) {
        return cluster.transport.calls().stream()
                .filter(call -> call.method().equals("PATCH") && call.target().endsWith("/nodes/" + name))
                .map(call -> Json.parseObject(call.body()).object("spec").array("taints"))
                .flatMap(taints -> taints.objects().map(taint -> taint.text("key") + ":" + taint.text("effect")))
                .distinct()
                .toList();
    }

    @Test
    @Tag("L43")
    void kubeletThatIsReadyWithinSecondsNeverGetsNoExecute() {
        start();

        // given a kubelet that registers, reports twice that its network is missing, and is ready after 4 s
        join("n1");
        cluster.advance(Duration.ofMillis(500));
        assertThat(cluster.taints("n1")).containsExactly(NO_SCHEDULE);
        for (int report = 0; report < 2; report++) {
            cluster.advance(Duration.ofSeconds(1));
            Instant at = cluster.time.wallTime();
            cluster.post("n1", registered(at, "False", "KubeletNotReady", "CSINode is not yet initialized"));
        }
        cluster.advance(Duration.ofMillis(1500));
        cluster.post(
                "n1", registered(cluster.time.wallTime(), "True", "KubeletReady", "kubelet is posting ready status"));
        cluster.advance(Duration.ofSeconds(30));

        assertThat(cluster.taints("n1")).isEmpty();
        assertThat(patchedTaints("n1")).containsExactly(NO_SCHEDULE);
    }

    @Test
    @Tag("L43")
    @Tag("L49")
    void nodeThatStaysNotReadyIsTaintedAfterOnePeriod() {
        start();
        join("n1");

        cluster.advance(Duration.ofMillis(4_999));
        assertThat(cluster.taints("n1")).containsExactly(NO_SCHEDULE);

        cluster.advance(Duration.ofMillis(2));
        assertThat(cluster.taints("n1")).containsExactlyInAnyOrder(NO_SCHEDULE, NO_EXECUTE);
    }

    @Test
    @Tag("L81")
    void nodeThatWasReadyOnceIsTaintedAtOnce() {
        start();
        join("n1");
        cluster.advance(Duration.ofSeconds(2));
        cluster.post("n1", ready("True", cluster.time.wallTime()));
        cluster.advance(Duration.ofSeconds(2));

        cluster.post("n1", ready("False", cluster.time.wallTime()));
        cluster.advance(Duration.ofMillis(1));

        assertThat(cluster.taints("n1")).containsExactlyInAnyOrder(NO_SCHEDULE, NO_EXECUTE);
    }

    @Test
    @Tag("L51")
    void nodesThatJoinTogetherSpendTheRateOfTheirZoneOneByOne() {
        start();
        for (int i = 0; i < 3; i++) {
            join("n" + i);
        }
        // two are ready after 3 s, one never is
        cluster.advance(Duration.ofSeconds(3));
        cluster.post("n0", ready("True", cluster.time.wallTime()));
        cluster.post("n1", ready("True", cluster.time.wallTime()));
        cluster.advance(Duration.ofMillis(2_001));

        assertThat(cluster.taints("n2")).as("no token was spent on the others").contains(NO_EXECUTE);
        assertThat(cluster.taints("n0")).isEmpty();
    }

    @Test
    @Tag("L43")
    void nodesThatAreNotReadyAtTheStartAreTaintedImmediately() {
        cluster.addNode("old", K, ready("True", B));
        cluster.addNode("n1", K, ready("False", B));

        cluster.start().advance(Duration.ofMillis(1));

        assertThat(cluster.taints("n1")).containsExactlyInAnyOrder(NO_SCHEDULE, NO_EXECUTE);
    }
}
