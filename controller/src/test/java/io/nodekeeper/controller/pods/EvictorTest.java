package io.nodekeeper.controller.pods;

import static io.nodekeeper.controller.pods.PodWorld.tolerates;
import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.client.LogLines;
import io.nodekeeper.client.workqueue.KeyedJobs;
import io.nodekeeper.controller.config.WorkloadConfig;
import io.nodekeeper.controller.history.Decision;
import java.time.Duration;
import java.util.Optional;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** How an eviction reads, waits and ends. The pod is on a node that gets the taint {@code k} at 10 s. */
class EvictorTest {
    private static final String TAINT = "k:NoExecute@10";

    private final LogLines faults = LogLines.of(KeyedJobs.class);
    private PodWorld world = new PodWorld();

    @BeforeEach
    void start() {
        begin(WorkloadConfig.DEFAULT);
    }

    private void begin(WorkloadConfig config, String... tolerations) {
        world = new PodWorld(config);
        world.addNode("n1");
        world.addPod("pod1", "n1", tolerations);
        world.start();
        world.advanceTo("10S");
    }

    @AfterEach
    void everyEvictionIsOver() {
        world.fault = call -> Optional.empty();
        world.advance(Duration.ofMinutes(5));
        assertThat(world.sizes()).containsEntry("evictions", 0);
        assertThat(faults.lines()).isEmpty();
    }

    @Test
    @Tag("L61")
    void delayOfAnEvictionIsTheTimeThatItTook() {
        world.latency = call -> call.method().equals("DELETE") ? Duration.ofMillis(250) : Duration.ZERO;

        world.taint("n1", TAINT);
        world.advanceTo("11S");

        assertThat(world.decisions).singleElement().satisfies(decision -> {
            assertThat(decision.kind()).isEqualTo("Evicted");
            assertThat(decision.details().toString())
                    .isEqualTo("{\"lateMillis\":250,\"failures\":0,\"pod\":\"default/pod1\",\"podUid\":\"pod1-uid\"}");
        });
    }

    @Test
    void evictionNamesAFewOfTheTaintsOfItsNode() {
        // given a node with 1,000 taints
        String[] taints = IntStream.range(0, 1_000)
                .mapToObj(i -> "k" + i + ":NoExecute@10")
                .toArray(String[]::new);

        world.taint("n1", taints);
        world.advanceTo("11S");

        assertThat(world.decisions)
                .extracting(Decision::text)
                .containsExactly(
                        "Pod default/pod1 was evicted from node n1 because of its taints k0, k1, k2, k3, k4 and 995 more");
    }

    @Test
    @Tag("L72")
    void podThatIsGoneUnseenIsNoFailureAndNoEviction() {
        world.podWatchStalled = true;
        world.removePod("pod1");

        world.taint("n1", TAINT);
        world.advanceTo("60S");

        assertThat(world.calls("GET", "/pods/pod1")).isEqualTo(1);
        assertThat(world.calls("DELETE", "/pods/pod1")).isZero();
        assertThat(world.decisions).isEmpty();
        assertThat(world.sizes()).containsEntry("evictions", 0);
    }

    @Test
    void podThatEndsUnseenIsLeftAlone() {
        world.podWatchStalled = true;
        world.patchPod("pod1", "{\"metadata\":{\"deletionTimestamp\":\"2015-01-01T12:01:00Z\"}}");

        world.taint("n1", TAINT);
        world.advanceTo("11S");

        assertThat(world.calls("DELETE", "/pods/pod1")).isZero();
        assertThat(world.sizes()).containsEntry("evictions", 0);
    }

    @Test
    @Tag("L66")
    void podThatGotATolerationUnseenIsLookedAtEveryFiveSecondsUntilItEnds() {
        world.podWatchStalled = true;
        world.tolerate("pod1", tolerates("k", 100));

        world.taint("n1", TAINT);
        world.advanceTo("22S");
        assertThat(world.calls("GET", "/pods/pod1")).as("at 10, 15 and 20 s").isEqualTo(3);
        assertThat(world.sizes()).containsEntry("evictions", 0);
        world.advanceTo("200S");

        assertThat(world.deletions).containsExactly("pod1-uid@111");
    }

    @Test
    void podWhoseTolerationEndsThisVeryMomentLeavesNow() {
        begin(WorkloadConfig.DEFAULT, tolerates("k", 1));
        world.advanceTo("12S");

        world.taint("n1", TAINT);
        world.advance(Duration.ZERO);

        assertThat(world.deletions).containsExactly("pod1-uid@12");
    }

    @Test
    void taintThatIsRemovedDuringTheReadIsReconsidered() {
        world.latency = call -> call.target().endsWith("/nodes/n1") ? Duration.ofMillis(500) : Duration.ZERO;
        world.nodeWatchStalled = false;
        world.taint("n1", TAINT);
        world.advanceTo("10.1S");

        world.taint("n1");
        world.advanceTo("12S");

        assertThat(world.sizes()).containsEntry("evictions", 0);
        assertThat(world.deletions).isEmpty();
    }

    @Test
    void taintThatIsAddedDuringAnOlderReadCausesAnotherRead() {
        begin(WorkloadConfig.DEFAULT, tolerates("k", 20));
        world.taint("n1", TAINT);
        world.advanceTo("30S");
        world.nodeWatchStalled = true;
        world.taint("n1");
        world.latency = call -> call.target().endsWith("/nodes/n1") ? Duration.ofMillis(500) : Duration.ZERO;
        world.advanceTo("31.2S");

        world.nodeWatchStalled = false;
        world.taint("n1", "z:NoExecute@31");
        world.advanceTo("32.5S");

        assertThat(world.deletions).hasSize(1);
    }

    @Test
    void nodeThatIsTaintedAgainAsBeforeAfterALookShowedItUntaintedIsReviewedAtOnce() {
        begin(WorkloadConfig.DEFAULT, tolerates("k", 20));
        world.taint("n1", TAINT);
        world.advanceTo("30S");
        world.nodeWatchStalled = true;
        world.taint("n1");
        world.advanceTo("32S");
        assertThat(world.deletions).isEmpty();

        world.nodeWatchStalled = false;
        world.taint("n1", TAINT);
        world.advanceTo("33S");

        assertThat(world.deletions).containsExactly("pod1-uid@32");
    }

    @Test
    void evictionThatIsTriedAgainCountsAsOne() {
        refuseDeletes();
        world.taint("n1", TAINT);
        world.advanceTo("10.160S");

        assertThat(world.calls("DELETE", "/pods/pod1"))
                .as("after 100 to 150 ms")
                .isEqualTo(2);
        assertThat(world.sizes()).containsEntry("evictions", 1);
    }

    @Test
    @Tag("L65")
    void tolerationOfATaintThatReplacesTheOtherBetweenTriesCounts() {
        begin(WorkloadConfig.DEFAULT, tolerates("t2", 60));
        refuseDeletes();
        world.taint("n1", TAINT);
        world.advanceTo("20S");

        world.taint("n1", "t2:NoExecute@20");
        world.fault = call -> Optional.empty();
        world.advanceTo("200S");

        assertThat(world.deletions).containsExactly("pod1-uid@81");
    }

    @Test
    void nodeThatIsDeletedBetweenAttemptsIsNotReadAgain() {
        refuseDeletes();
        world.taint("n1", TAINT);
        world.advanceTo("11S");
        world.deleteNode("n1");
        long before = world.calls("GET", "/nodes/n1");

        world.advanceTo("39S");

        assertThat(world.calls("GET", "/nodes/n1")).isEqualTo(before);
        assertThat(world.sizes()).containsEntry("evictions", 0);
    }

    @Test
    void podsThatLeaveWithinASecondShareOneLook() {
        world.taint("n1", TAINT);
        world.advanceTo("10.5S");
        world.addPod("pod2", "n1");
        world.advanceTo("10.6S");
        assertThat(world.deletions).hasSize(2);
        assertThat(world.calls("GET", "/nodes/n1")).isEqualTo(1);

        world.advanceTo("12S");
        world.addPod("pod3", "n1");
        world.advanceTo("12.1S");

        assertThat(world.deletions).hasSize(3);
        assertThat(world.calls("GET", "/nodes/n1")).isEqualTo(2);
    }

    @Test
    void nothingIsEvictedOnceItIsStopped() {
        begin(WorkloadConfig.DEFAULT, tolerates("k", 20));
        world.taint("n1", TAINT);
        world.advanceTo("20S");

        world.stop();
        world.advanceTo("100S");

        assertThat(world.deletions).isEmpty();
    }

    @Test
    @Tag("W14")
    void cancelledEvictionsAreReportedAsByTheReference() {
        begin(WorkloadConfig.REFERENCE, tolerates("k", 20));
        world.taint("n1", TAINT);
        world.advanceTo("15S");

        world.tolerate("pod1");
        world.advanceTo("16S");

        assertThat(world.events("TaintManagerEviction"))
                .hasSize(2)
                .first()
                .asString()
                .endsWith("Cancelling deletion of Pod default/pod1");
    }

    @Test
    void podThatLosesItsTolerationHasNoCancelledEviction() {
        begin(WorkloadConfig.DEFAULT, tolerates("k", 20));
        world.taint("n1", TAINT);
        world.advanceTo("15S");

        world.tolerate("pod1");
        world.advanceTo("16S");

        assertThat(world.events("TaintManagerEviction"))
                .singleElement()
                .asString()
                .endsWith("Marking for deletion Pod default/pod1");
    }

    @Test
    @Tag("W14")
    void earlyEndOfAPodIsReportedOnlyByTheReference() {
        for (WorkloadConfig config : new WorkloadConfig[] {WorkloadConfig.DEFAULT, WorkloadConfig.REFERENCE}) {
            begin(config, tolerates("k", 20));
            world.taint("n1", TAINT);
            world.advanceTo("15S");

            world.removePod("pod1");
            world.advanceTo("60S");

            assertThat(world.events("TaintManagerEviction")).hasSize(config == WorkloadConfig.REFERENCE ? 1 : 0);
            assertThat(world.calls("DELETE", "/pods/pod1")).isZero();
        }
    }

    @Test
    void referenceLetsItsTimersRunWhenTheNodeGoes() {
        begin(WorkloadConfig.REFERENCE, tolerates("k", 20));
        world.taint("n1", TAINT);
        world.advanceTo("15S");

        world.deleteNode("n1");
        world.advanceTo("31S");

        assertThat(world.deletions).containsExactly("pod1-uid@30");
    }

    @Test
    @Tag("L70")
    void referenceThatGaveUpHasNoMoreWork() {
        begin(WorkloadConfig.REFERENCE);
        refuseDeletes();

        world.taint("n1", TAINT);
        world.advanceTo("11S");

        assertThat(world.calls("DELETE", "/pods/pod1")).isEqualTo(5);
        assertThat(world.sizes()).containsEntry("evictions", 0);
    }

    @Test
    void durableEvictionByTheReferencesTimesHappensOnce() {
        WorkloadConfig config = new WorkloadConfig(true, true, false, true, true, 0, Duration.ofSeconds(5));
        begin(config, tolerates("k", 20));

        world.taint("n1", TAINT);
        world.advanceTo("60S");

        assertThat(world.deletions).containsExactly("pod1-uid@30");
    }

    private void refuseDeletes() {
        world.fault = call -> call.method().equals("DELETE") ? Optional.of(PodWorld.unavailable()) : Optional.empty();
    }
}
