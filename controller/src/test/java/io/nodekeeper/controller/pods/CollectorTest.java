package io.nodekeeper.controller.pods;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.controller.config.WorkloadConfig;
import io.nodekeeper.controller.history.Decision;
import io.nodekeeper.controller.observer.CanaryLease;
import io.prometheus.metrics.model.snapshots.CounterSnapshot;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Pods and leases that no other client deletes. */
class CollectorTest {
    private static final String FAILED = "{\"phase\":\"Failed\"}";
    /** A pod whose finalizer is never removed. */
    private static final String HELD = "{\"metadata\":{\"finalizers\":[\"example.com/held\"]}}";

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
        assertThat(world.calls("GET", "/nodes/n1"))
                .as("one look for the node, one for its pods")
                .isEqualTo(2);
        assertThat(world.decisions).extracting(Decision::kind).containsExactly("Collected", "Collected");
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    @Tag("L75")
    void podThatStaysForItsFinalizersIsReportedOnceAndSeldomDeletedAgainInEveryMode(boolean better) {
        // given a pod with a finalizer on a node that is deleted
        PodWorld each = new PodWorld(better ? WorkloadConfig.DEFAULT : WorkloadConfig.REFERENCE);
        each.addNode("n1");
        each.addPod("pod1", "n1");
        each.patchPod("pod1", HELD);
        each.start();
        each.advanceTo("5S");
        each.deleteNode("n1");

        // when it is accepted at 60 s, but the pod stays
        each.advanceTo("61S");
        long looks = each.calls("GET", "/nodes/n1");
        each.advanceTo("600S");

        // then nothing is asked for or reported again
        assertThat(each.deletions).containsExactly("pod1-uid!@60");
        assertThat(each.calls("GET", "/nodes/n1")).isEqualTo(looks);
        assertThat(each.decisions).extracting(Decision::kind).containsExactly("Collected");

        // and after ten minutes the deletion is repeated, without a report
        each.advanceTo("1200S");
        assertThat(each.deletions).hasSize(2);
        assertThat(each.decisions).hasSize(1);
        assertThat(each.metrics.registry().scrape().stream()
                        .filter(metric -> metric.getMetadata().getName().equals("pod_gc_collector_force_delete_pods"))
                        .flatMap(metric -> metric.getDataPoints().stream())
                        .map(point -> ((CounterSnapshot.CounterDataPointSnapshot) point).getValue()))
                .containsExactly(1.0);
    }

    @Test
    @Tag("L75")
    void terminatingPodsThatStayForTheirFinalizersAreReportedOnce() {
        // given one on a node out of service, and one without a node
        world.addNode("n1");
        world.ready("n1", "Unknown", PodWorld.B);
        world.addPod("ending", "n1");
        world.addPod("nowhere", "");
        for (String pod : List.of("ending", "nowhere")) {
            world.patchPod(pod, HELD);
            world.patchPod(pod, "{\"metadata\":{\"deletionTimestamp\":\"2015-01-01T12:01:00Z\"}}");
        }

        world.start().advanceTo("5S");
        world.taint("n1", "node.kubernetes.io/out-of-service:NoSchedule");
        world.advanceTo("500S");

        assertThat(world.deletions).containsExactly("nowhere-uid!@0", "ending-uid!@20");
        // then the decision about the pod without a node has the pod's UID, so that it is not about the controller
        assertThat(world.decisions)
                .filteredOn(decision -> decision.kind().equals("Collected"))
                .extracting(decision -> decision.node() + " " + decision.uid() + " " + decision.text())
                .containsExactly(
                        " nowhere-uid Pod default/nowhere was deleted immediately: unscheduled",
                        "n1 n1-uid Pod default/ending was deleted immediately: out-of-service");
        assertThat(world.decisions).noneMatch(decision -> decision.isOfController());
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
        // given a node that the watch has not delivered
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

    /** A world in which two finished pods may stay, with one that ended each second: pod0, pod1 and so on, with these statuses. */
    private static PodWorld ended(String... statuses) {
        PodWorld small = new PodWorld(new WorkloadConfig(true, true, true, true, true, 2, Duration.ofSeconds(5)));
        small.addNode("n1");
        small.start();
        for (int i = 0; i < statuses.length; i++) {
            small.addPod("pod" + i, "n1");
            small.patchPod("pod" + i, "{\"status\":" + statuses[i] + "}");
            small.advance(Duration.ofSeconds(1));
        }
        return small;
    }

    @Test
    void theOldestFinishedPodsGoWhenThereAreTooMany() {
        PodWorld small = ended(FAILED, FAILED, FAILED, FAILED, FAILED);
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
    void secondReadOfALeaseIsAMinuteAfterTheFirstWasAnswered() {
        // given that a lease is read for nearly two seconds
        world.latency = call -> call.method().equals("GET") && call.target().contains("/leases/")
                ? Duration.ofMillis(1_900)
                : Duration.ZERO;
        world.addNode("n1");
        world.renew("n1");
        world.start();
        world.advanceTo("10S");
        world.deleteNode("n1");

        // when the first read began at 3620 s, then there is no second one at 3680 s
        world.advanceTo("3699S");
        assertThat(world.calls("GET", "/leases/n1")).isEqualTo(1);
        world.advanceTo("3710S");

        assertThat(world.calls("GET", "/leases/n1")).isEqualTo(2);
        assertThat(world.leases()).isEmpty();
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
        world.renew("canary", CanaryLease.LABEL);
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

    /** The world with 100 pods on a node that is gone, right before the moment at which they are collected. */
    private static PodWorld hundredOrphans() {
        PodWorld world = new PodWorld();
        world.addNode("n1");
        for (int i = 0; i < 100; i++) {
            world.addPod("pod" + i, "n1");
        }
        world.start();
        world.advanceTo("5S");
        world.deleteNode("n1");
        world.advanceTo("59.999S");
        return world;
    }

    @Test
    @Tag("L75")
    void nodeThatComesBackWhileTheDeletionOfItsPodsWaitsKeepsThem() {
        // given a server that is so slow that deletions wait, and a node that came back after the first look
        PodWorld slow = hundredOrphans();
        boolean[] back = {false};
        slow.afterwards = () -> {
            if (!back[0] && slow.calls.getLast().equals("GET /api/v1/nodes/n1")) {
                back[0] = true;
                slow.addNode("n1", "n1-again");
            }
        };
        slow.advanceTo("61.5S");
        slow.advanceTo("600S");

        assertThat(back[0]).isTrue();
        assertThat(slow.deletions).isEmpty();
        assertThat(slow.calls("PATCH", "/status"))
                .as("no pod was called Failed")
                .isZero();
    }

    @Test
    @Tag("L75")
    void nodeThatComesBackUnseenByTheWatchKeepsItsPods() {
        PodWorld blind = hundredOrphans();
        blind.nodeWatchStalled = true;
        int[] looks = {0};
        blind.fault = call -> {
            if (call.target().endsWith("/nodes/n1") && ++looks[0] == 2) {
                blind.addNode("n1", "n1-again");
            }
            return Optional.empty();
        };

        blind.advanceTo("600S");

        assertThat(looks[0]).isGreaterThan(1);
        assertThat(blind.deletions).isEmpty();
    }

    @Test
    @Tag("L75")
    void podWhoseKubeletWritesAfterTheLookIsNotDeletedThen() {
        world.addNode("n1");
        world.addPod("pod1", "n1");
        world.start();
        world.deleteNode("n1");
        // given a kubelet that writes between our two writes
        world.fault = call -> {
            if (call.method().equals("DELETE") && world.time.elapsed().toSeconds() < 65) {
                world.podReady("pod1", "True", PodWorld.B.plusSeconds(60));
            }
            return Optional.empty();
        };

        world.advanceTo("65S");
        assertThat(world.calls("DELETE", "/pods/pod1")).as("at 40 s and 60 s").isEqualTo(2);
        assertThat(world.deletions).isEmpty();

        world.advanceTo("90S");
        assertThat(world.deletions).as("it is still an orphan").containsExactly("pod1-uid!@80");
    }

    @Test
    @Tag("L75")
    void nodeThatLosesItsTaintWhileDeletionsWaitKeepsItsTerminatingPods() {
        world.addNode("n1");
        world.ready("n1", "Unknown", PodWorld.B);
        for (int i = 0; i < 100; i++) {
            world.addPod("pod" + i, "n1");
            world.patchPod("pod" + i, "{\"metadata\":{\"deletionTimestamp\":\"2015-01-01T12:01:00Z\"}}");
        }
        world.start();
        world.advanceTo("5S");
        world.taint("n1", "node.kubernetes.io/out-of-service:NoSchedule");
        // given a client that removes the taint after the first read
        boolean[] off = {false};
        world.afterwards = () -> {
            if (!off[0] && world.calls.getLast().equals("GET /api/v1/nodes/n1")) {
                off[0] = true;
                world.taint("n1");
            }
        };

        world.advanceTo("300S");

        assertThat(off[0]).isTrue();
        assertThat(world.deletions).isEmpty();
    }

    @Test
    void finishedPodsThatTheirNodesEvictedAreDeletedFirst() {
        String succeeded = "{\"phase\":\"Succeeded\",\"reason\":\"Evicted\"}";
        String evicted = "{\"phase\":\"Failed\",\"reason\":\"Evicted\"}";
        PodWorld small = ended(succeeded, succeeded, evicted, evicted);

        small.advanceTo("100S");

        assertThat(small.deletions.toString()).contains("pod2").contains("pod3").doesNotContain("pod0", "pod1");
    }

    @Test
    void finishedPodsThatOthersDeleteMeanwhileCountForTheThreshold() {
        PodWorld small = ended(FAILED, FAILED, FAILED, FAILED, FAILED);
        // given that another client deletes the three newest while our first look is under way
        boolean[] done = {false};
        small.fault = call -> {
            if (!done[0] && call.target().endsWith("/pods/pod0")) {
                done[0] = true;
                List.of("pod2", "pod3", "pod4").forEach(small::removePod);
            }
            return Optional.empty();
        };

        small.advanceTo("100S");

        assertThat(done[0]).isTrue();
        assertThat(small.deletions).isEmpty();
    }

    @Test
    @Tag("W18")
    void leaseWithoutANodeHasAtMostOneCheckEvenIfReadsHang() {
        for (int i = 0; i < 20; i++) {
            world.renew("lease" + i);
        }
        world.fault = call -> call.method().equals("GET") && !call.target().endsWith("/pods")
                ? Optional.of(PodWorld.unavailable())
                : Optional.empty();
        world.start();

        world.advance(Duration.ofDays(2));

        assertThat(world.sizes().get("lease checks")).isLessThanOrEqualTo(20);
        assertThat(world.sizes().get("suspects")).isEqualTo(20);
    }
}
