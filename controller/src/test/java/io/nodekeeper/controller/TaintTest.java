package io.nodekeeper.controller;

import static io.nodekeeper.controller.TestCluster.B;
import static io.nodekeeper.controller.TestCluster.K;
import static io.nodekeeper.controller.TestCluster.condition;
import static io.nodekeeper.controller.TestCluster.cordon;
import static io.nodekeeper.controller.TestCluster.ready;
import static io.nodekeeper.controller.TestCluster.taint;
import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.api.ApiException;
import io.nodekeeper.api.ResourceType;
import io.nodekeeper.api.json.Json;
import io.nodekeeper.client.Call;
import io.nodekeeper.client.FakeTransport;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** NoSchedule taints follow the conditions. */
class TaintTest {
    private final TestCluster cluster = new TestCluster();

    @Test
    @Tag("L39")
    void networkUnavailableIsTainted() {
        cluster.addNode("n1", K, ready("True", B), condition("NetworkUnavailable", "True", B));

        cluster.start().advance(Duration.ofMillis(1));

        assertThat(cluster.taints("n1")).containsExactly("node.kubernetes.io/network-unavailable:NoSchedule");
        assertThat(Json.write(cluster.node("n1").taints().getFirst().json()))
                .isEqualTo("{\"key\":\"node.kubernetes.io/network-unavailable\",\"effect\":\"NoSchedule\","
                        + "\"timeAdded\":\"2015-01-01T12:00:00Z\"}");
    }

    @Test
    @Tag("L40")
    void notReadyAndUnreachableReplaceEachOther() {
        cluster.addNode("n1", K, ready("False", B));
        cluster.start().advance(Duration.ofMillis(1));
        assertThat(cluster.taints("n1")).containsExactly("node.kubernetes.io/not-ready:NoSchedule");

        cluster.post("n1", ready("Unknown", B));
        cluster.advance(Duration.ofMillis(1));
        assertThat(cluster.taints("n1")).containsExactly("node.kubernetes.io/unreachable:NoSchedule");

        cluster.post("n1", ready("True", B.plusSeconds(1)));
        cluster.advance(Duration.ofMillis(1));
        assertThat(cluster.taints("n1")).isEmpty();
        assertThat(cluster.calls("PATCH", "/nodes/n1")).isEqualTo(3);
        assertThat(cluster.calls("GET", "/nodes/n1")).isZero();
    }

    @Test
    @Tag("L41")
    void silentNodeIsUnreachableAndUnderNoPressure() {
        cluster.addNode("n1", K, ready("True", B), condition("MemoryPressure", "True", B));
        cluster.start().advance(Duration.ofMillis(1));
        assertThat(cluster.taints("n1")).containsExactly("node.kubernetes.io/memory-pressure:NoSchedule");

        cluster.advanceTo("50.002S");

        assertThat(cluster.taints("n1")).containsExactly("node.kubernetes.io/unreachable:NoSchedule");
        assertThat(cluster.calls("PATCH", "/nodes/n1")).isEqualTo(2);
    }

    @Test
    @Tag("L41")
    void everyPressureHasItsTaint() {
        cluster.addNode(
                "n1",
                K,
                ready("True", B),
                condition("MemoryPressure", "True", B),
                condition("DiskPressure", "True", B),
                condition("PIDPressure", "True", B));

        cluster.start().advance(Duration.ofMillis(1));

        assertThat(cluster.taints("n1"))
                .containsExactly(
                        "node.kubernetes.io/memory-pressure:NoSchedule",
                        "node.kubernetes.io/disk-pressure:NoSchedule",
                        "node.kubernetes.io/pid-pressure:NoSchedule");
    }

    @Test
    @Tag("L42")
    void cordonIsTaintedAndForeignTaintsStay() {
        cluster.addNode("n1", K, ready("True", B));
        cluster.change(
                "n1", node -> cordon(taint(taint(node, "dedicated", "NoSchedule"), "maintenance", "NoExecute"), true));
        cluster.start().advance(Duration.ofMillis(1));
        assertThat(cluster.taints("n1"))
                .containsExactly(
                        "dedicated:NoSchedule", "maintenance:NoExecute", "node.kubernetes.io/unschedulable:NoSchedule");

        cluster.change("n1", node -> cordon(node, false));
        cluster.advance(Duration.ofMillis(1));

        assertThat(cluster.taints("n1")).containsExactly("dedicated:NoSchedule", "maintenance:NoExecute");
    }

    @Test
    @Tag("L50")
    void conflictIsTriedAgainWithAFreshReadAndTheNewVersion() {
        cluster.addNode("n1", K, ready("False", B));
        int[] conflicts = {2};
        cluster.fault = call -> isPatch(call) && conflicts[0]-- > 0
                ? Optional.of(FakeTransport.refusal(ApiException.modified(ResourceType.NODES, "n1")))
                : Optional.empty();

        cluster.start().advance(Duration.ofMillis(99));
        assertThat(cluster.calls("GET", "/nodes/n1")).isZero();
        cluster.advance(Duration.ofMillis(301));

        assertThat(cluster.taints("n1")).containsExactly("node.kubernetes.io/not-ready:NoSchedule");
        assertThat(cluster.calls("PATCH", "/nodes/n1")).isEqualTo(3);
        assertThat(cluster.calls("GET", "/nodes/n1")).isEqualTo(2);
        Call last = cluster.transport.calls().stream()
                .filter(TaintTest::isPatch)
                .toList()
                .getLast();
        assertThat(last.contentType()).isEqualTo("application/strategic-merge-patch+json");
        assertThat(new String(last.body(), StandardCharsets.UTF_8))
                .isEqualTo("{\"metadata\":{\"resourceVersion\":\"101\"},\"spec\":{\"taints\":["
                        + "{\"key\":\"node.kubernetes.io/not-ready\",\"effect\":\"NoSchedule\","
                        + "\"timeAdded\":\"2015-01-01T12:00:00Z\"}]}}");
    }

    @Test
    void lastTaintIsRemovedWithANull() {
        cluster.addNode("n1", K, ready("True", B));
        cluster.change("n1", node -> taint(node, "node.kubernetes.io/not-ready", "NoSchedule"));

        cluster.start().advance(Duration.ofMillis(1));

        Call patch = cluster.transport.calls().stream()
                .filter(TaintTest::isPatch)
                .toList()
                .getLast();
        assertThat(new String(patch.body(), StandardCharsets.UTF_8))
                .isEqualTo("{\"metadata\":{\"resourceVersion\":\"102\"},\"spec\":{\"taints\":null}}");
        assertThat(cluster.taints("n1")).isEmpty();
    }

    @Test
    void failedTaintIsWrittenWhenTheServerIsBack() {
        cluster.addNode("n1", K, ready("False", B));
        cluster.fault = call -> isPatch(call) ? Optional.of(TestCluster.internalError()) : Optional.empty();
        cluster.start().advance(Duration.ofSeconds(10));
        assertThat(cluster.taints("n1")).isEmpty();

        cluster.fault = call -> Optional.empty();
        cluster.post("n1", ready("False", B.plusSeconds(10)));
        cluster.advance(Duration.ofSeconds(30));

        assertThat(cluster.taints("n1")).containsExactly("node.kubernetes.io/not-ready:NoSchedule");
    }

    @Test
    void changeDuringAWriteIsNotLost() {
        cluster.addNode("n1", K, ready("False", B));
        boolean[] changed = {false};
        cluster.fault = call -> {
            if (isPatch(call) && !changed[0]) {
                changed[0] = true;
                cluster.post("n1", ready("True", B.plusSeconds(1)));
            }
            return Optional.empty();
        };

        cluster.start().advance(Duration.ofSeconds(1));

        assertThat(cluster.taints("n1")).isEmpty();
    }

    @Test
    void changeBetweenAWriteAndItsAnswerIsNotLost() {
        cluster.addNode("n1", K, ready("True", B));
        cluster.start().advance(Duration.ofSeconds(1));
        boolean[] changed = {false};
        cluster.afterwards = call -> {
            if (isPatch(call) && !changed[0]) {
                changed[0] = true;
                cluster.post("n1", ready("True", B.plusSeconds(1)));
            }
        };

        cluster.post("n1", ready("False", B));
        cluster.advance(Duration.ofSeconds(1));

        assertThat(changed[0]).isTrue();
        assertThat(cluster.taints("n1")).isEmpty();
    }

    private static boolean isPatch(Call call) {
        return call.method().equals("PATCH") && call.target().contains("/nodes/");
    }
}
