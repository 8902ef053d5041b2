package io.nodekeeper.controller.pods;

import static io.nodekeeper.controller.pods.PodWorld.B;
import static io.nodekeeper.controller.pods.PodWorld.NOT_READY;
import static io.nodekeeper.controller.pods.PodWorld.UNREACHABLE;
import static io.nodekeeper.controller.pods.PodWorld.tolerates;
import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.client.Call;
import io.nodekeeper.client.Reply;
import io.nodekeeper.controller.config.WorkloadConfig;
import io.nodekeeper.controller.history.Decision;
import io.prometheus.metrics.model.snapshots.CounterSnapshot;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Pods leave nodes whose NoExecute taints they do not tolerate. */
class EvictionTest {
    private static final String DISRUPTED = "DisruptionTarget=True DeletionByTaintManager 2015-01-01T12:00:00Z";

    private static PodWorld world(boolean better) {
        PodWorld world = new PodWorld(better ? WorkloadConfig.DEFAULT : WorkloadConfig.REFERENCE);
        world.addNode("n1");
        return world;
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    @Tag("L61")
    void podWithoutTolerationsIsToldAndDeleted(boolean better) {
        PodWorld world = world(better);
        world.addPod("pod1", "n1");
        world.start();

        world.taint("n1", "k:NoExecute@0");
        world.advance(Duration.ofMillis(1));

        assertThat(world.deletions).containsExactly("pod1-uid@0");
        assertThat(world.conditions("pod1")).contains(DISRUPTED);
        assertThat(world.events)
                .containsExactly(
                        "taint-eviction-controller Normal TaintManagerEviction Pod default/pod1: Marking for deletion"
                                + " Pod default/pod1");
        assertThat(world.calls)
                .containsSubsequence(
                        "PATCH /api/v1/namespaces/default/pods/pod1/status",
                        "DELETE /api/v1/namespaces/default/pods/pod1");
        assertThat(world.metrics.registry().scrape().stream()
                        .filter(metric ->
                                metric.getMetadata().getName().equals("taint_eviction_controller_pod_deletions"))
                        .flatMap(metric -> metric.getDataPoints().stream())
                        .map(point -> ((CounterSnapshot.CounterDataPointSnapshot) point).getValue()))
                .containsExactly(1.0);
        assertThat(world.decisions).extracting(Decision::kind).containsExactly("Evicted");
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    @Tag("L62")
    void tolerationsDecideHowLongAPodStays(boolean better) {
        PodWorld world = world(better);
        world.addPod("hundred", "n1", tolerates("k", 100));
        world.addPod("forever", "n1", tolerates("k"));
        world.addPod("other", "n1", tolerates("x"));
        world.start();

        world.taint("n1", "k:NoExecute@0");
        world.advanceTo("5S");
        assertThat(world.deletions).containsExactly("other-uid@0");

        world.advanceTo("1000S");
        assertThat(world.deletions).containsExactly("other-uid@0", better ? "hundred-uid@101" : "hundred-uid@100");
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    @Tag("L63")
    void theShortestTolerationCounts(boolean better) {
        PodWorld world = world(better);
        world.addPod("both", "n1", tolerates("t1", 1), tolerates("t2", 100));
        world.addPod("one", "n1", tolerates("t1", 100));
        world.start();

        world.taint("n1", "t1:NoExecute@0", "t2:NoExecute@0");
        world.advanceTo("300S");

        assertThat(world.deletions).containsExactly("one-uid@0", better ? "both-uid@2" : "both-uid@1");
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    @Tag("L63")
    void eachPodHasItsOwnPatience(boolean better) {
        PodWorld world = world(better);
        world.addPod("pod1", "n1");
        world.addPod("pod2", "n1", tolerates("t1", 1));
        world.addPod("pod3", "n1", tolerates("t1"));
        world.start();
        world.taint("n1", "t1:NoExecute@0");
        world.advanceTo("60S");
        assertThat(world.deletions).containsExactly("pod1-uid@0", better ? "pod2-uid@2" : "pod2-uid@1");

        PodWorld twice = world(better);
        twice.addPod("pod1", "n1");
        twice.addPod("pod2", "n1", tolerates("t1", 1));
        twice.addPod("pod3", "n1", tolerates("t1"));
        twice.start();
        twice.taint("n1", "t1:NoExecute@0", "t2:NoExecute@0");
        twice.advanceTo("60S");
        assertThat(twice.deletions).containsExactlyInAnyOrder("pod1-uid@0", "pod2-uid@0", "pod3-uid@0");
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    @Tag("L64")
    @Tag("W14")
    void podStaysWhenTheTaintGoesInTime(boolean better) {
        PodWorld world = world(better);
        world.addPod("pod1", "n1", tolerates("k", 1));
        world.start();
        world.taint("n1", "k:NoExecute@0");
        world.advanceTo("0.5S");

        world.taint("n1");
        world.advanceTo("30S");

        assertThat(world.deletions).isEmpty();
        assertThat(world.events)
                .containsExactly(
                        "taint-eviction-controller Normal TaintManagerEviction Pod default/pod1: Cancelling deletion"
                                + " of Pod default/pod1");
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    @Tag("L65")
    @Tag("W14")
    void podStaysWhenOnlyTheTaintGoesThatItToleratesForAWhile(boolean better) {
        PodWorld world = world(better);
        world.addPod("pod1", "n1", tolerates("t1"), tolerates("t2", 60));
        world.start();
        world.taint("n1", "t1:NoExecute@0");
        world.advanceTo("10S");
        world.taint("n1", "t1:NoExecute@0", "t2:NoExecute@10");
        world.advanceTo("60S");

        world.taint("n1", "t1:NoExecute@0");
        world.advanceTo("600S");

        assertThat(world.deletions).isEmpty();
        assertThat(world.events("TaintManagerEviction")).hasSize(1);
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    @Tag("L66")
    void podThatLosesItsTolerationLeavesAtOnce(boolean better) {
        PodWorld world = world(better);
        world.addPod("pod1", "n1", tolerates("k", 100));
        world.start();
        world.taint("n1", "k:NoExecute@0");
        world.advanceTo("7S");

        world.tolerate("pod1");
        world.advanceTo("8S");

        assertThat(world.deletions).containsExactly("pod1-uid@7");
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    @Tag("L66")
    @Tag("W5")
    void longerTolerationCountsButNotForTheReference(boolean better) {
        PodWorld world = world(better);
        world.addPod("pod1", "n1", tolerates("k", 1));
        world.start();
        world.taint("n1", "k:NoExecute@0");
        world.advanceTo("0.1S");

        world.tolerate("pod1", tolerates("k", 100));
        world.advanceTo("200S");

        assertThat(world.deletions).containsExactly(better ? "pod1-uid@101" : "pod1-uid@1");
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    @Tag("W5")
    void shorterTolerationCountsButNotForTheReference(boolean better) {
        PodWorld world = world(better);
        world.addPod("pod1", "n1", tolerates("k", 100));
        world.start();
        world.taint("n1", "k:NoExecute@0");
        world.advanceTo("10S");

        world.tolerate("pod1", tolerates("k", 50));
        world.advanceTo("200S");

        assertThat(world.deletions).containsExactly(better ? "pod1-uid@51" : "pod1-uid@100");
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    @Tag("L68")
    void unreachableAfterNotReadyDoesNotRestartTheTime(boolean better) {
        PodWorld world = world(better);
        world.addPod("pod1", "n1", tolerates(NOT_READY, 300), tolerates(UNREACHABLE, 300));
        world.start();
        world.advanceTo("10S");
        world.taint("n1", NOT_READY + ":NoExecute@10");
        world.advanceTo("110S");

        world.taint("n1", UNREACHABLE + ":NoExecute@110");
        world.advanceTo("1000S");

        assertThat(world.deletions).containsExactly(better ? "pod1-uid@311" : "pod1-uid@310");
        assertThat(world.events).hasSize(1);
    }

    @Test
    @Tag("L68")
    @Tag("L71")
    void swapThatKeepsTimeAddedSurvivesARestart() {
        PodWorld world = world(true);
        world.addPod("pod1", "n1", tolerates(NOT_READY, 300), tolerates(UNREACHABLE, 300));
        world.start();
        world.taint("n1", NOT_READY + ":NoExecute@0");
        world.advanceTo("100S");
        world.taint("n1", UNREACHABLE + ":NoExecute@0");
        world.kill();
        world.advanceTo("200S");

        world.start();
        world.advanceTo("1000S");

        assertThat(world.deletions).containsExactly("pod1-uid@301");
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    @Tag("L69")
    void podThatComesLateIsJudgedByItself(boolean better) {
        PodWorld world = world(better);
        world.start();
        world.taint("n1", "k:NoExecute@0");
        world.advanceTo("10S");

        world.addPod("pod1", "n1");
        world.addPod("pod2", "n1", tolerates("k", 100));
        world.addPod("pod3", "", tolerates("k", 15));
        world.advanceTo("20S");
        world.patchPod("pod3", "{\"spec\":{\"nodeName\":\"n1\"}}");
        world.advanceTo("200S");

        assertThat(world.deletions)
                .isEqualTo(
                        better
                                ? List.of("pod1-uid@10", "pod3-uid@26", "pod2-uid@110")
                                : List.of("pod1-uid@10", "pod3-uid@35", "pod2-uid@110"));
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    @Tag("L69")
    void podThatIsCreatedWhenItsTolerationWouldHaveEndedStaysForAllOfIt(boolean better) {
        PodWorld world = world(better);
        world.start();
        world.taint("n1", "k:NoExecute@0");
        world.advanceTo("1000S");

        world.addPod("pod1", "n1", tolerates("k", 300));
        world.addPod("none", "n1", tolerates("k", 0));
        world.advanceTo("1299S");
        assertThat(world.deletions).containsExactly("none-uid@1000");

        world.advanceTo("2000S");
        assertThat(world.deletions).containsExactly("none-uid@1000", "pod1-uid@1300");
    }

    @Test
    @Tag("L69")
    @Tag("L71")
    void restartDoesNotRestartTheTimeOfAPodThatWasCreatedAfterTheTaint() {
        PodWorld world = world(true);
        world.start();
        world.taint("n1", "k:NoExecute@0");
        world.advanceTo("1000S");
        world.addPod("pod1", "n1", tolerates("k", 300));
        world.advanceTo("1100S");
        world.kill();
        world.advanceTo("1200S");

        world.start();
        world.advanceTo("2000S");

        // A new process knows the second in which the pod was created, not the moment.
        assertThat(world.deletions).containsExactly("pod1-uid@1301");
    }

    @Test
    @Tag("L69")
    void podFromTheFutureCountsFromNow() {
        PodWorld world = world(true);
        world.start();
        world.taint("n1", "k:NoExecute@0");
        world.advanceTo("1000S");
        // given a controller whose clock is an hour behind that of the API server
        world.skewWallClock(Duration.ofHours(-1));

        world.addPod("pod1", "n1", tolerates("k", 300));
        world.advanceTo("2000S");

        assertThat(world.deletions).containsExactly("pod1-uid@1300");
    }

    @Test
    @Tag("L70")
    void referenceGivesUpAfterFiveTries() {
        PodWorld world = world(false);
        world.addPod("pod1", "n1");
        world.start();
        world.fault = EvictionTest::refuseDelete;

        world.taint("n1", "k:NoExecute@0");
        world.advanceTo("0.04S");
        assertThat(world.calls("DELETE", "/pods/pod1")).isEqualTo(5);

        world.fault = call -> Optional.empty();
        world.advanceTo("3600S");
        assertThat(world.deletions).isEmpty();
        assertThat(world.decisions).extracting(Decision::kind).containsExactly("EvictionFailed");
    }

    @Test
    @Tag("L70")
    @Tag("W6")
    void deletionIsRepeatedUntilItIsAccepted() {
        PodWorld world = world(true);
        world.addPod("pod1", "n1");
        world.start();
        world.fault = EvictionTest::refuseDelete;

        world.taint("n1", "k:NoExecute@0");
        world.advanceTo("100S");
        assertThat(world.calls("DELETE", "/pods/pod1")).isBetween(8L, 13L);
        world.fault = call -> Optional.empty();
        world.advanceTo("145S");

        assertThat(world.deletions).hasSize(1);
        assertThat(world.events("TaintManagerEviction")).hasSize(1);
        assertThat(world.calls("PATCH", "/pods/pod1/status")).isEqualTo(1);
    }

    @Test
    @Tag("L70")
    @Tag("W6")
    void deletionIsRepeatedOnlyAsLongAsThePodHasToLeave() {
        PodWorld world = world(true);
        world.addPod("pod1", "n1");
        world.start();
        world.fault = EvictionTest::refuseDelete;
        world.taint("n1", "k:NoExecute@0");
        world.advanceTo("10S");

        world.taint("n1");
        world.fault = call -> Optional.empty();
        world.advanceTo("600S");

        assertThat(world.deletions).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    @Tag("L72")
    @Tag("W6")
    void podOfTheSameNameIsAnotherPod(boolean better) {
        PodWorld world = world(better);
        world.addPodWithUid("web-0", "old", "n1", tolerates("k", 60));
        world.start();
        world.taint("n1", "k:NoExecute@0");
        world.advanceTo("59.9S");
        // when it is replaced just before its deletion, and the watch has not delivered that yet
        boolean[] replaced = {false};
        world.fault = call -> {
            if (call.method().equals("DELETE") && !replaced[0]) {
                replaced[0] = true;
                world.removePod("web-0");
                world.addPodWithUid("web-0", "new", "n1", tolerates("k"));
            }
            return Optional.empty();
        };

        world.advanceTo("300S");

        assertThat(world.deletions).isEqualTo(better ? List.of() : List.of("new@60"));
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    @Tag("W6")
    void podsThatEndedOrAreEndingAreLeftAlone(boolean better) {
        PodWorld world = world(better);
        world.addPod("done", "n1");
        world.patchPod("done", "{\"status\":{\"phase\":\"Succeeded\"}}");
        world.addPod("ending", "n1");
        world.patchPod("ending", "{\"metadata\":{\"deletionTimestamp\":\"2015-01-01T12:01:00Z\"}}");
        world.start();

        world.taint("n1", "k:NoExecute@0");
        world.advanceTo("10S");

        assertThat(world.calls("DELETE", "")).isEqualTo(better ? 0 : 2);
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    @Tag("L73")
    void everyNoExecuteTaintCounts(boolean better) {
        PodWorld world = world(better);
        world.addPod("pod1", "n1", tolerates(NOT_READY, 300), tolerates(UNREACHABLE, 300));
        world.start();

        world.taint("n1", "CustomTaintByUser:NoExecute", "dedicated:NoSchedule");
        world.advanceTo("20S");

        assertThat(world.deletions).containsExactly("pod1-uid@0");
        assertThat(world.conditions("pod1")).contains(DISRUPTED);
    }

    @Test
    @Tag("L73")
    void noScheduleTaintEvictsNoPod() {
        PodWorld world = world(true);
        world.addPod("pod1", "n1");
        world.start();

        world.taint("n1", "CustomTaintByUser:NoSchedule@0");
        world.advanceTo("600S");

        assertThat(world.deletions).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    @Tag("L81")
    void flappingNodeKeepsItsPods(boolean better) {
        PodWorld world = world(better);
        world.addPod("pod1", "n1", tolerates(NOT_READY, 300), tolerates(UNREACHABLE, 300));
        world.start();

        for (int cycle = 0; cycle < 10; cycle++) {
            world.advance(Duration.ofSeconds(180));
            world.taint("n1", NOT_READY + ":NoExecute@" + world.time.elapsed().toSeconds());
            world.advance(Duration.ofSeconds(60));
            world.taint("n1");
        }
        world.advance(Duration.ofSeconds(600));

        assertThat(world.deletions).isEmpty();
        assertThat(world.events("TaintManagerEviction"))
                .hasSize(10)
                .allMatch(event -> event.endsWith("Cancelling deletion of Pod default/pod1"));
    }

    @Test
    @Tag("W1")
    void noPodIsEvictedFromANodeThatReturnedUnseen() {
        // given a watch that has stalled since the taint came
        PodWorld world = world(true);
        world.addPod("pod1", "n1", tolerates("k", 60));
        world.start();
        world.taint("n1", "k:NoExecute@0");
        world.advanceTo("10S");
        world.nodeWatchStalled = true;
        world.taint("n1");

        world.advanceTo("100S");
        assertThat(world.deletions).isEmpty();

        // when the watch delivers a taint that still exists
        world.nodeWatchStalled = false;
        world.taint("n1", "k:NoExecute@100");
        world.advanceTo("300S");
        assertThat(world.deletions).containsExactly("pod1-uid@161");
    }

    /** Only this controller removes the taint, when it learns that the node is Ready. */
    @Test
    @Tag("W1")
    void noPodIsEvictedFromANodeThatIsReadyUnseenAndStillTainted() {
        // given a watch that has stalled since the node was marked
        PodWorld world = world(true);
        world.addPod("pod1", "n1", tolerates(UNREACHABLE, 60));
        world.addPod("pod2", "n1", tolerates("k", 60));
        world.start();
        world.ready("n1", "Unknown", B);
        world.taint("n1", UNREACHABLE + ":NoExecute@0");
        world.advanceTo("10S");
        assertThat(world.deletions).containsExactly("pod2-uid@0");
        world.nodeWatchStalled = true;
        world.ready("n1", "True", B.plusSeconds(20));

        world.advanceTo("100S");
        assertThat(world.deletions).hasSize(1);

        // when the watch goes on, and the node is silent again
        world.nodeWatchStalled = false;
        world.ready("n1", "Unknown", B.plusSeconds(100));
        world.advanceTo("200S");
        assertThat(world.deletions).hasSize(2);
    }

    @Test
    @Tag("W1")
    void thawedControllerEvictsNoPodFromANodeThatReturned() {
        PodWorld world = world(true);
        world.addPod("pod1", "n1", tolerates("k", 60));
        world.start();
        world.taint("n1", "k:NoExecute@0");
        world.advanceTo("50S");
        world.freeze();
        world.advanceTo("70S");
        world.taint("n1");
        world.advanceTo("110S");

        world.thaw();
        world.advanceTo("600S");

        assertThat(world.deletions).isEmpty();
    }

    @Test
    @Tag("W5")
    void jumpOfTheWallClockChangesNoEvictionTime() {
        PodWorld world = world(true);
        world.addPod("pod1", "n1", tolerates("k", 300));
        world.start();
        world.advanceTo("1S");
        world.taint("n1", "k:NoExecute@1");
        world.advanceTo("10S");

        world.skewWallClock(Duration.ofHours(1));
        world.taint("n1", "k:NoExecute@1", "other:NoSchedule");
        world.advanceTo("20S");
        world.skewWallClock(Duration.ofHours(-1));
        world.taint("n1", "k:NoExecute@1");
        world.advanceTo("1000S");

        assertThat(world.deletions).containsExactly("pod1-uid@302");
    }

    @Test
    @Tag("W5")
    void taintFromTheFutureCountsFromNow() {
        PodWorld world = world(true);
        world.addPod("pod1", "n1", tolerates("k", 60));
        world.start();

        world.advanceTo("10S");
        world.taint("n1", "k:NoExecute@99999");
        world.advanceTo("1000S");

        assertThat(world.deletions).containsExactly("pod1-uid@70");
    }

    @Test
    void podsOfANodeThatIsGoneAreNotEvicted() {
        PodWorld world = world(true);
        world.addPod("pod1", "n1", tolerates("k", 30));
        world.start();
        world.taint("n1", "k:NoExecute@0");
        world.advanceTo("29S");

        world.deleteNode("n1");
        world.advanceTo("60S");

        assertThat(world.deletions).isEmpty();
    }

    @Test
    void nothingIsDoneBeforeAllPodsAreKnown() {
        PodWorld world = world(true);
        world.addPod("pod1", "n1");
        world.taint("n1", "k:NoExecute@0");
        world.fault = call ->
                call.target().equals("/api/v1/pods?limit=500") ? Optional.of(PodWorld.unavailable()) : Optional.empty();
        world.start();
        world.advanceTo("30S");
        assertThat(world.calls("DELETE", "")).isZero();

        world.fault = call -> Optional.empty();
        world.advanceTo("40S");
        assertThat(world.deletions).hasSize(1);
    }

    private static Optional<Reply> refuseDelete(Call call) {
        return call.method().equals("DELETE") ? Optional.of(PodWorld.unavailable()) : Optional.empty();
    }
}
