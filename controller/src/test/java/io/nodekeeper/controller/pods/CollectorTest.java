package io.nodekeeper.controller.pods;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.controller.history.Decision;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Pods and leases that nobody else deletes. */
class CollectorTest {
    private final PodWorld world = new PodWorld();

    @Test
    @Tag("L75")
    void podsOfADeletedNodeAreForcedOutAfterItsQuarantine() {
        world.addNode("n1");
        world.addPod("pod1", "n1");
        world.addPod("done", "n1");
        world.patchPod("done", "{\"status\":{\"phase\":\"Succeeded\"}}");
        world.start();
        world.advanceTo("5S");
        String[] last = {""};
        world.fault = call -> {
            if (call.method().equals("DELETE") && call.target().endsWith("/pod1")) {
                last[0] = world.pod("pod1").object("status").text("phase") + " " + world.conditions("pod1");
            }
            return Optional.empty();
        };

        world.deleteNode("n1");
        world.advanceTo("44S");
        assertThat(world.deletions).isEmpty();
        world.advanceTo("61S");

        assertThat(world.deletions).containsExactlyInAnyOrder("pod1-uid!@60", "done-uid!@60");
        assertThat(last[0])
                .startsWith("Failed ")
                .contains("DisruptionTarget=True DeletionByPodGC 2015-01-01T12:01:00Z");
        assertThat(world.calls("PATCH", "/pods/done/status")).isZero();
        assertThat(world.calls("GET", "/nodes/n1")).isEqualTo(1);
        assertThat(world.decisions).extracting(Decision::kind).containsExactly("Collected", "Collected");
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    @Tag("L75")
    void podOfADeletedNodeIsToldWhyItGoesInEveryMode(boolean better) {
        PodWorld each = new PodWorld(better ? WorkloadConfig.DEFAULT : WorkloadConfig.REFERENCE);
        each.addNode("n1");
        each.addPod("pod1", "n1");
        each.start();
        each.advanceTo("5S");
        String[] status = {""};
        each.fault = call -> {
            if (call.method().equals("DELETE")) {
                status[0] = each.pod("pod1").object("status").toString();
            }
            return Optional.empty();
        };

        each.deleteNode("n1");
        each.advanceTo("45S");
        assertThat(each.deletions).isEmpty();
        each.advanceTo("66S");

        assertThat(each.deletions).containsExactly("pod1-uid!@60");
        assertThat(status[0])
                .contains(
                        "\"phase\":\"Failed\"",
                        "\"type\":\"DisruptionTarget\"",
                        "\"status\":\"True\"",
                        "\"reason\":\"DeletionByPodGC\"",
                        "\"message\":\"PodGC: node no longer exists\"");
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    @Tag("L75")
    void outOfServiceForcesTerminatingPodsOutInEveryModeUnlessTheNodeIsReady(boolean better) {
        PodWorld each = new PodWorld(better ? WorkloadConfig.DEFAULT : WorkloadConfig.REFERENCE);
        each.addNode("down");
        each.ready("down", "Unknown", PodWorld.B);
        each.addNode("up");
        for (String node : List.of("down", "up")) {
            each.addPod("on-" + node, node);
            each.patchPod("on-" + node, "{\"metadata\":{\"deletionTimestamp\":\"2015-01-01T12:01:00Z\"}}");
        }
        each.start();
        each.advanceTo("5S");

        each.taint("down", "node.kubernetes.io/out-of-service:NoSchedule");
        each.taint("up", "node.kubernetes.io/out-of-service:NoSchedule");
        each.advanceTo("25S");

        assertThat(each.deletions).containsExactly("on-down-uid!@20");
    }

    @Test
    @Tag("L75")
    void nodeThatIsThereAfterAllKeepsItsPods() {
        // given a node that the watch has not told of
        world.start();
        world.nodeWatchStalled = true;
        world.addNode("n1");
        world.addPod("pod1", "n1");

        world.advanceTo("600S");

        assertThat(world.deletions).isEmpty();
        assertThat(world.calls("GET", "/nodes/n1")).isGreaterThan(3);
    }

    @Test
    @Tag("L75")
    void nothingIsCollectedAsLongAsTheNodeCannotBeRead() {
        world.addPod("pod1", "gone");
        world.fault =
                call -> call.target().endsWith("/nodes/gone") ? Optional.of(PodWorld.unavailable()) : Optional.empty();
        world.start();
        world.advanceTo("110S");
        assertThat(world.deletions).isEmpty();

        world.fault = call -> Optional.empty();
        world.advanceTo("121S");
        assertThat(world.deletions).containsExactly("pod1-uid!@120");
    }

    @Test
    @Tag("L75")
    void terminatingPodsOfANodeOutOfServiceAreForcedOut() {
        world.addNode("n1");
        world.ready("n1", "Unknown", PodWorld.B);
        world.addPod("ending", "n1");
        world.patchPod("ending", "{\"metadata\":{\"deletionTimestamp\":\"2015-01-01T12:01:00Z\"}}");
        world.addPod("staying", "n1");
        world.start();
        world.advanceTo("5S");

        world.taint("n1", "node.kubernetes.io/out-of-service:NoSchedule");
        world.advanceTo("25S");

        assertThat(world.deletions).containsExactly("ending-uid!@20");
    }

    @Test
    @Tag("L75")
    void readyNodeKeepsItsTerminatingPodsWhateverItsTaints() {
        world.addNode("n1");
        world.addPod("ending", "n1");
        world.patchPod("ending", "{\"metadata\":{\"deletionTimestamp\":\"2015-01-01T12:01:00Z\"}}");
        world.start();

        world.taint("n1", "node.kubernetes.io/out-of-service:NoSchedule");
        world.advanceTo("300S");

        assertThat(world.deletions).isEmpty();
    }

    @Test
    @Tag("L75")
    void terminatingPodsOfNoNodeAreForcedOut() {
        world.addPod("ending", "");
        world.patchPod("ending", "{\"metadata\":{\"deletionTimestamp\":\"2015-01-01T12:01:00Z\"}}");
        world.addPod("waiting", "");

        world.start().advanceTo("10S");

        assertThat(world.deletions).containsExactly("ending-uid!@0");
    }

    @Test
    void theOldestFinishedPodsGoWhenThereAreTooMany() {
        PodWorld small = new PodWorld(new WorkloadConfig(true, true, true, true, true, 2, Duration.ofSeconds(5)));
        small.addNode("n1");
        small.start();
        for (int i = 0; i < 5; i++) {
            small.addPod("pod" + i, "n1");
            small.patchPod("pod" + i, "{\"status\":{\"phase\":\"Failed\"}}");
            small.advance(Duration.ofSeconds(1));
        }
        small.advanceTo("100S");

        assertThat(small.deletions).containsExactly("pod0-uid!@20", "pod1-uid!@20", "pod2-uid!@20");
        assertThat(small.calls("PATCH", "")).isZero();
    }

    @Test
    @Tag("W18")
    void leaseOfANodeThatIsGoneIsDeletedAfterAnHour() {
        world.addNode("n1");
        world.renew("n1");
        world.addNode("n2");
        world.renew("n2");
        world.start();
        world.advanceTo("10S");

        world.deleteNode("n1");
        world.advanceTo("3600S");
        assertThat(world.leases()).containsExactly("n1", "n2");
        world.advanceTo("3720S");

        assertThat(world.leases()).containsExactly("n2");
        assertThat(world.decisions).extracting(Decision::kind).containsExactly("OrphanLeaseDeleted");
    }

    @Test
    @Tag("W18")
    void leaseThatIsRenewedUnseenStays() {
        world.renew("n1");
        world.start();
        for (int i = 0; i < 1000; i++) {
            world.advance(Duration.ofSeconds(10));
            world.renewUnseen("n1");
        }
        assertThat(world.leases()).containsExactly("n1");
        assertThat(world.calls("GET", "/leases/n1")).isGreaterThan(10);
        assertThat(world.calls("DELETE", "")).isZero();
    }

    @Test
    @Tag("W18")
    void canariesLeasesOfOthersAndLeasesOfLivingNodesStay() {
        world.renew("canary", LeaseCollector.CANARY);
        world.renew("n1");
        world.addNode("n1");
        world.start();
        world.advance(Duration.ofHours(5));
        assertThat(world.leases()).containsExactly("canary", "n1");
    }

    @Test
    @Tag("W18")
    void referenceLeavesLeasesAlone() {
        PodWorld reference = new PodWorld(WorkloadConfig.REFERENCE);
        reference.renew("n1");
        reference.start();
        reference.advance(Duration.ofHours(5));
        assertThat(reference.leases()).containsExactly("n1");
    }
}
