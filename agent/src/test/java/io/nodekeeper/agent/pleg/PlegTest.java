package io.nodekeeper.agent.pleg;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.cri.ContainerEvent;
import io.nodekeeper.cri.ContainerState;
import io.nodekeeper.cri.RuntimeCall;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class PlegTest {

    private static PlegConfig config(PlegConfig.Mode mode) {
        return switch (mode) {
            case PARALLEL -> PlegConfig.PARALLEL;
            case SERIAL -> PlegConfig.REFERENCE;
            case SERIAL_TWICE -> PlegConfig.REFERENCE_1_21;
        };
    }

    @ParameterizedTest
    @EnumSource
    @Tag("A78")
    void changesOfAPodBetweenListsBecomeEvents(PlegConfig.Mode mode) {
        PlegFixture fixture = new PlegFixture(config(mode));
        fixture.runtime.container("c1", "u1", "a", ContainerState.EXITED);
        fixture.runtime.container("c2", "u1", "b", ContainerState.RUNNING);
        fixture.runtime.container("c3", "u1", "c", ContainerState.UNKNOWN);
        fixture.pleg.start();
        fixture.advanceMillis(1);
        assertThat(fixture.containerEvents()).containsExactly("DIED c1", "STARTED c2");

        fixture.runtime.remove("c1");
        fixture.runtime.container("c2", "u1", "b", ContainerState.EXITED);
        fixture.runtime.container("c3", "u1", "c", ContainerState.RUNNING);
        fixture.runtime.container("c4", "u1", "d", ContainerState.RUNNING);
        fixture.advanceSeconds(1);
        assertThat(fixture.containerEvents()).containsExactly("REMOVED c1", "DIED c2", "STARTED c3", "STARTED c4");
        assertThat(fixture.pleg.cache().get("u1").status().containers()).hasSize(3);

        fixture.runtime.removePod("u1");
        fixture.advanceSeconds(1);
        assertThat(fixture.containerEvents())
                .containsExactly("REMOVED c2", "DIED c3", "REMOVED c3", "DIED c4", "REMOVED c4");
        assertThat(fixture.pleg.cache().get("u1").status()).isEqualTo(PodStatus.empty("u1"));
    }

    /** More than the calls to the runtime that may be in progress. */
    @Test
    void podWithThousandsOfEndedContainersIsInspectedWithFewCallsAtATime() {
        // given a runtime that needs some time for each status
        PlegFixture fixture = PlegFixture.parallel();
        fixture.runtime.pod("u1", "app");
        for (int i = 0; i < 3_000; i++) {
            fixture.runtime.container("old-" + i, "u1", "old", ContainerState.EXITED);
        }
        fixture.runtime.delay("ContainerStatus", Duration.ofMillis(2));

        // when the pod is inspected
        fixture.pleg.start();
        fixture.advanceMillis(1);
        long atOnce = fixture.runtime.open("ContainerStatus");
        fixture.advanceSeconds(2);

        // then few calls were in progress, and the pod has all of its containers
        assertThat(atOnce).isEqualTo(16);
        assertThat(fixture.pleg.cache().get("u1").status().containers()).hasSize(3_001);
    }

    @ParameterizedTest
    @EnumSource
    @Tag("A80")
    void eventWaitsForAnInspectionThatSucceeds(PlegConfig.Mode mode) {
        PlegFixture fixture = new PlegFixture(config(mode));
        fixture.runtime.pod("u1", "app");
        fixture.pleg.start();
        fixture.advanceMillis(1);
        fixture.containerEvents();

        fixture.runtime.fail("ContainerStatus:u1-app", PlegFixture.BROKEN);
        fixture.runtime.container("u1-app", "u1", "app", ContainerState.EXITED);
        fixture.advanceSeconds(5);
        assertThat(fixture.containerEvents()).isEmpty();
        assertThat(fixture.pleg.cache().get("u1").error()).contains(PlegFixture.BROKEN);

        fixture.runtime.heal("ContainerStatus:u1-app");
        fixture.advanceSeconds(1);
        assertThat(fixture.containerEvents()).containsExactly("DIED u1-app");
        assertThat(fixture.pleg.cache().get("u1").error()).isEmpty();
    }

    @Test
    void podThatWentBackWhileItCouldNotBeInspectedIsSynced() {
        PlegFixture fixture = PlegFixture.parallel();
        fixture.runtime.pod("u1", "app");
        fixture.pleg.start();
        fixture.advanceMillis(1);
        fixture.containerEvents();
        fixture.runtime.fail("ContainerStatus:u1-app", PlegFixture.BROKEN);
        fixture.runtime.container("u1-app", "u1", "app", ContainerState.UNKNOWN);
        fixture.advanceSeconds(1);

        fixture.runtime.heal("ContainerStatus:u1-app");
        fixture.runtime.container("u1-app", "u1", "app", ContainerState.RUNNING);
        fixture.advanceSeconds(1);

        assertThat(fixture.containerEvents()).containsExactly("POD_SYNC u1");
    }

    @Test
    @Tag("A81")
    void eventsBeyondAFullChannelAreDroppedAndCounted() {
        PlegFixture fixture = PlegFixture.parallel();
        for (int i = 0; i < 1003; i++) {
            fixture.runtime.container("a" + i, "u1", "a", ContainerState.RUNNING);
        }

        fixture.pleg.start();
        fixture.advanceSeconds(10);

        assertThat(fixture.discarded).isEqualTo(3);
        assertThat(fixture.events)
                .hasSize(1000)
                .allMatch(event -> event.podUid().equals("u1"));
        assertThat(fixture.relists).hasSize(11).containsOnly(Duration.ZERO);
    }

    @ParameterizedTest
    @EnumSource
    @Tag("A82")
    void deadPodKeepsItsAddressesAndALiveOneDoesNot(PlegConfig.Mode mode) {
        PlegFixture fixture = new PlegFixture(config(mode));
        fixture.runtime.pod("u1", "app");
        fixture.runtime.pod("u2", "app");
        fixture.pleg.start();
        fixture.advanceMillis(1);
        assertThat(fixture.pleg.cache().get("u1").status().ips()).containsExactly("10.1.0.7");

        fixture.runtime.sandbox("s-u1", "u1", false);
        fixture.runtime.ips("s-u2", List.of());
        fixture.runtime.container("u2-app", "u2", "app", ContainerState.EXITED);
        fixture.advanceSeconds(1);

        assertThat(fixture.pleg.cache().get("u1").status().ips()).containsExactly("10.1.0.7");
        assertThat(fixture.pleg.cache().get("u2").status().ips()).isEmpty();
    }

    @ParameterizedTest
    @EnumSource
    @Tag("A83")
    void listThatFailsForMoreThanThreeMinutesMakesItUnhealthy(PlegConfig.Mode mode) {
        PlegFixture fixture = new PlegFixture(config(mode));
        fixture.pleg.start();
        fixture.advanceMillis(1);
        fixture.runtime.fail("ListPodSandbox", PlegFixture.BROKEN);

        fixture.advanceMillis(179_999);
        assertThat(fixture.pleg.lastListAge()).isEqualTo(Duration.ofMinutes(3));
        assertThat(fixture.pleg.unhealthy()).isEmpty();

        fixture.advanceSeconds(1);
        assertThat(fixture.pleg.unhealthy()).contains("pleg was last seen active 3m1s ago; threshold is 3m0s");

        fixture.runtime.heal("ListPodSandbox");
        fixture.advanceSeconds(1);
        assertThat(fixture.pleg.lastListAge()).isLessThanOrEqualTo(Duration.ofSeconds(1));
        assertThat(fixture.pleg.unhealthy().isEmpty()).isEqualTo(mode != PlegConfig.Mode.PARALLEL);
        fixture.advanceSeconds(30);
        assertThat(fixture.pleg.unhealthy()).isEmpty();
    }

    @Test
    void listThatHangsTimesOutAfterTenSecondsAndIsRepeated() {
        PlegFixture fixture = PlegFixture.parallel();
        fixture.runtime.hang("ListContainers");
        fixture.pleg.start();
        fixture.advanceSeconds(9);
        assertThat(fixture.pleg.unhealthy()).contains("pleg has yet to be successful");
        assertThat(fixture.pleg.firstRelist()).isNotDone();
        assertThat(fixture.pleg.lastListAge()).isEqualTo(Duration.ofSeconds(9));

        fixture.runtime.heal("ListContainers");
        fixture.advanceSeconds(2);

        assertThat(fixture.pleg.firstRelist()).isCompleted();
        assertThat(fixture.pleg.unhealthy()).isEmpty();
        assertThat(fixture.relists).containsExactly(Duration.ofSeconds(10), Duration.ZERO);
        assertThat(fixture.intervals).containsExactly(Duration.ofSeconds(11));
    }

    @Test
    @Tag("A86")
    void waiterForAPodThatIsNotThereIsAnsweredByTheNextList() {
        PlegFixture fixture = PlegFixture.parallel();
        fixture.pleg.start();
        fixture.advanceMillis(500);

        CompletableFuture<PodStatusCache.Entry> answer =
                fixture.pleg.cache().getNewerThan("u1", fixture.loop.nanoTime());
        fixture.advanceMillis(499);
        assertThat(answer).isNotDone();

        fixture.advanceMillis(1);
        assertThat(answer.join().status()).isEqualTo(PodStatus.empty("u1"));
        assertThat(answer.join().error()).isEmpty();
    }

    @Test
    @Tag("A109")
    void lastSeenIsWrittenByEachList() {
        PlegFixture fixture = PlegFixture.parallel();
        fixture.pleg.start();

        fixture.advanceMillis(1_500);

        assertThat(fixture.lastSeen).containsExactly(PlegFixture.START, PlegFixture.START.plusSeconds(1));
    }

    @Test
    @Tag("A109")
    void theReferenceWritesLastSeenAtALookAtTheHealthOnly() {
        PlegFixture fixture = new PlegFixture(PlegConfig.REFERENCE);
        fixture.pleg.unhealthy();
        fixture.pleg.start();
        fixture.advanceMillis(5_500);
        assertThat(fixture.lastSeen).isEmpty();

        fixture.pleg.unhealthy();

        assertThat(fixture.lastSeen).containsExactly(PlegFixture.START.plusSeconds(5));
    }

    @Test
    @Tag("A109")
    void relistOfTwelveSecondsIsMeasuredAsSuch() {
        PlegFixture fixture = new PlegFixture(PlegConfig.REFERENCE);
        fixture.runtime.pod("u1", "app");
        fixture.runtime.delay("PodSandboxStatus", Duration.ofSeconds(12));

        fixture.pleg.start();
        fixture.advanceSeconds(12);

        assertThat(fixture.relists).containsExactly(Duration.ofSeconds(12));
    }

    @Test
    void unchangedPodsAreNotInspectedAgain() {
        PlegFixture fixture = PlegFixture.parallel();
        for (int i = 0; i < 30; i++) {
            fixture.runtime.pod("u" + i, "app", "proxy");
        }
        fixture.runtime.container("u3-app", "u3", "app", ContainerState.EXITED);
        fixture.pleg.start();
        fixture.advanceSeconds(60);

        assertThat(fixture.runtime.calls("ContainerStatus")).isEqualTo(60);
        assertThat(fixture.runtime.calls("PodSandboxStatus")).isEqualTo(30);
        assertThat(fixture.runtime.calls("ListPodSandbox")).isEqualTo(61);
        assertThat(fixture.runningPods).isEqualTo(30);
        assertThat(fixture.containers)
                .isEqualTo(Map.of(
                        ContainerState.CREATED, 0,
                        ContainerState.RUNNING, 59,
                        ContainerState.EXITED, 1,
                        ContainerState.UNKNOWN, 0));
    }

    @Test
    void objectDeletedBetweenListAndInspectionIsLeftOut() {
        PlegFixture fixture = PlegFixture.parallel();
        fixture.runtime.pod("u1", "app", "proxy");
        fixture.runtime.delay("ContainerStatus:u1-app", Duration.ofMillis(300));
        fixture.pleg.start();
        fixture.advanceMillis(100);

        fixture.runtime.remove("u1-app");
        fixture.advanceMillis(300);

        assertThat(fixture.pleg.cache().get("u1").error()).isEmpty();
        assertThat(fixture.pleg.cache().get("u1").status().containers()).hasSize(1);
        fixture.containerEvents();
        fixture.advanceSeconds(1);
        assertThat(fixture.containerEvents()).containsExactly("DIED u1-app", "REMOVED u1-app");
    }

    @Test
    void changeDuringAnInspectionIsInspectedAfterIt() {
        PlegFixture fixture = PlegFixture.parallel();
        fixture.runtime.pod("u1", "app");
        fixture.runtime.delay("ContainerStatus", Duration.ofMillis(2500));
        fixture.pleg.start();
        fixture.advanceMillis(500);
        fixture.runtime.container("u1-app", "u1", "app", ContainerState.EXITED);
        fixture.advanceMillis(1900);
        assertThat(fixture.runtime.calls("ContainerStatus")).as("one at a time").isEqualTo(1);

        fixture.advanceMillis(200);
        assertThat(fixture.containerEvents()).containsExactly("STARTED u1-app");
        assertThat(fixture.runtime.calls("ContainerStatus")).isEqualTo(2);

        fixture.advanceMillis(2500);
        assertThat(fixture.containerEvents()).containsExactly("DIED u1-app");
    }

    /** One pod at a time is inspected, until {@code patience} is over. */
    private static PlegConfig oneAtATime(Duration patience) {
        PlegConfig usual = PlegConfig.PARALLEL;
        return new PlegConfig(
                usual.mode(),
                usual.relistPeriod(),
                usual.calmPeriod(),
                usual.relistThreshold(),
                usual.callDeadline(),
                usual.podDeadline(),
                1,
                1,
                patience,
                usual.quarantine(),
                usual.stuckShare(),
                usual.stuckPods(),
                usual.recovery());
    }

    @Test
    void inspectionThatHadToWaitIsNoNewerThanTheListThatItStartedFrom() {
        // given a pod that waits for its inspection since the first list, because that of another one is slow
        PlegFixture fixture = new PlegFixture(oneAtATime(Duration.ofMillis(700)));
        fixture.runtime.pod("slow", "app");
        fixture.runtime.pod("u1", "app");
        fixture.runtime.delay("ContainerStatus:slow-app", Duration.ofSeconds(2));
        fixture.pleg.start();
        fixture.advanceMillis(300);
        assertThat(fixture.runtime.calls("ContainerStatus")).isEqualTo(1);

        // when it gets another container, and then its inspection begins, which knows nothing of that
        fixture.runtime.container("u1-new", "u1", "new", ContainerState.RUNNING);
        CompletableFuture<PodStatusCache.Entry> answer =
                fixture.pleg.cache().getNewerThan("u1", fixture.loop.nanoTime());
        fixture.advanceMillis(600);
        assertThat(fixture.pleg.cache().get("u1").status().containers()).hasSize(1);

        // then only what the next list shows is an answer
        assertThat(answer).isNotDone();
        fixture.advanceMillis(101);
        assertThat(answer)
                .isCompletedWithValueMatching(
                        entry -> entry.status().containers().size() == 2);
    }

    @Test
    void listDuringAnInspectionCountsAtItsEndIfItShowedTheSame() {
        // given a pod whose inspection takes a while
        PlegFixture fixture = PlegFixture.parallel();
        fixture.runtime.pod("u1", "app");
        fixture.runtime.delay("ContainerStatus", Duration.ofMillis(300));
        fixture.pleg.start();
        fixture.advanceMillis(100);

        // when a reader asks for something newer, and a list meanwhile shows no change
        CompletableFuture<PodStatusCache.Entry> answer =
                fixture.pleg.cache().getNewerThan("u1", fixture.loop.nanoTime());
        fixture.pleg.relistPod("u1");
        fixture.advanceMillis(199);
        assertThat(answer).isNotDone();

        // then it need not wait for another list
        fixture.advanceMillis(2);
        assertThat(answer).isCompletedWithValueMatching(entry -> entry.error().isEmpty());
        assertThat(fixture.relists).hasSize(1);
    }

    @Test
    void inventoryKnowsWhoseEachIdIs() {
        PlegFixture fixture = PlegFixture.parallel();
        fixture.runtime.pod("u1", "app");
        fixture.runtime.container("stray", "", "stray", ContainerState.RUNNING);
        fixture.pleg.start();
        fixture.advanceMillis(1);

        Inventory inventory = fixture.pleg.inventory();

        PodRef pod = new PodRef("u1", "pod-u1", "default");
        assertThat(inventory.pods()).containsExactly(pod);
        assertThat(inventory.podOf("s-u1")).contains(pod);
        assertThat(inventory.podOf("u1-app")).contains(pod);
        assertThat(inventory.pod("u1")).contains(pod);
        assertThat(inventory.podOf("stray")).isEmpty();
        assertThat(inventory.containers()).hasSize(2);
        assertThat(inventory.sandboxes()).hasSize(1);
    }

    @Test
    @Tag("I-4")
    void restartWithAHungContainerIsHealthyAtOnceAndTellsWhatRuns() {
        PlegFixture fixture = PlegFixture.parallel();
        fixture.runtime.pod("good", "app");
        fixture.runtime.pod("bad", "app");
        fixture.runtime.hang("ContainerStatus:bad-app");
        fixture.pleg.start();
        fixture.advanceSeconds(60);
        fixture.pleg.stop();
        int calls = fixture.runtime.calls().size();
        fixture.advanceSeconds(300);
        assertThat(fixture.runtime.calls()).as("stopped").hasSize(calls);
        fixture.containerEvents();

        Pleg next = new Pleg(fixture.runtime, fixture.loop, PlegConfig.PARALLEL, PlegMetrics.NONE);
        next.listen(fixture.events::add);
        next.start();
        fixture.advanceMillis(1);

        assertThat(next.firstRelist()).isCompleted();
        assertThat(next.unhealthy()).isEmpty();
        assertThat(fixture.containerEvents()).containsExactly("STARTED good-app");
        fixture.advanceSeconds(10);
        assertThat(next.stuck()).extracting(StuckPod::tries).containsExactly(1);
    }

    @Test
    void beatIsNeverOlderThanAListMayTake() {
        PlegFixture fixture = PlegFixture.parallel();
        fixture.runtime.pod("u1", "app");
        fixture.runtime.hang("*");
        fixture.pleg.start();

        for (int second = 0; second < 100; second++) {
            fixture.advanceSeconds(1);
            assertThat(fixture.loop.nanoTime() - fixture.pleg.lastBeat())
                    .isLessThanOrEqualTo(Duration.ofSeconds(11).toNanos());
        }
    }

    @Test
    void hintOfAKnownContainerListsItsPodAlone() {
        PlegFixture fixture = PlegFixture.parallel();
        fixture.runtime.pod("u1", "app");
        fixture.pleg.start();
        fixture.advanceMillis(500);
        fixture.containerEvents();
        fixture.runtime.calls().clear();

        fixture.runtime.container("u1-app", "u1", "app", ContainerState.EXITED);
        fixture.pleg.hint(new ContainerEvent("u1-app", "", ContainerEvent.Type.STOPPED));
        fixture.advanceMillis(1);

        assertThat(fixture.containerEvents()).containsExactly("DIED u1-app");
        assertThat(fixture.runtime.calls())
                .contains(new RuntimeCall.ListContainers(Optional.of("u1")))
                .hasSize(4);
        assertThat(fixture.podRelists).containsExactly(Duration.ZERO);
        assertThat(fixture.relists).hasSize(1);
    }

    @Test
    void hintThatChangesNothingMakesThePodFresh() {
        PlegFixture fixture = PlegFixture.parallel();
        fixture.runtime.pod("u1", "app");
        fixture.pleg.start();
        fixture.advanceMillis(500);
        CompletableFuture<PodStatusCache.Entry> answer =
                fixture.pleg.cache().getNewerThan("u1", fixture.loop.nanoTime());

        fixture.pleg.relistPod("u1");
        fixture.advanceMillis(1);

        assertThat(answer).isCompleted();
        assertThat(fixture.runtime.calls("ContainerStatus")).isEqualTo(1);
    }

    @Test
    void hintOfARemovedPodRemovesIt() {
        PlegFixture fixture = PlegFixture.parallel();
        fixture.runtime.pod("u1", "app");
        fixture.pleg.start();
        fixture.advanceMillis(500);
        fixture.containerEvents();

        fixture.runtime.removePod("u1");
        fixture.pleg.hint(new ContainerEvent("u1-app", "u1", ContainerEvent.Type.DELETED));
        fixture.advanceMillis(1);

        assertThat(fixture.containerEvents()).containsExactly("DIED u1-app", "REMOVED u1-app");
        assertThat(fixture.pleg.cache().get("u1").status()).isEqualTo(PodStatus.empty("u1"));
    }

    @Test
    void hintsOfUnknownIdsListAllSoonButNotTooOften() {
        PlegFixture fixture = PlegFixture.parallel();
        fixture.pleg.start();
        fixture.advanceMillis(500);

        fixture.runtime.pod("u1", "app");
        fixture.pleg.hint(new ContainerEvent("u1-app", "", ContainerEvent.Type.STARTED));
        fixture.advanceMillis(1);
        assertThat(fixture.containerEvents()).containsExactly("STARTED u1-app");

        int before = fixture.relists.size();
        for (int i = 0; i < 1000; i++) {
            fixture.pleg.hint(new ContainerEvent("other" + i, "", ContainerEvent.Type.STARTED));
            fixture.advanceMillis(1);
        }
        assertThat(fixture.relists.size() - before).isEqualTo(10);
    }

    /** A pod that runs, and an event stream that has been open and silent for a minute. */
    private static PlegFixture calm() {
        PlegFixture fixture = PlegFixture.parallel();
        fixture.runtime.pod("u1", "app");
        fixture.pleg.start();
        fixture.pleg.eventsOpened();
        fixture.advanceSeconds(60);
        fixture.containerEvents();
        fixture.relists.clear();
        return fixture;
    }

    @Test
    void listsAreRareWhileEventsAreReceivedAndNothingHappens() {
        PlegFixture fixture = calm();

        fixture.advanceSeconds(30);

        assertThat(fixture.relists).hasSize(20);
    }

    @Test
    void aChangeWithoutAnEventIsFoundWithinTheCalmPeriodAndListsAreFrequentAgain() {
        PlegFixture fixture = calm();

        fixture.runtime.container("u1-app", "u1", "app", ContainerState.EXITED);
        fixture.advanceMillis(1_500);
        assertThat(fixture.containerEvents()).containsExactly("DIED u1-app");

        fixture.relists.clear();
        fixture.advanceSeconds(8);
        assertThat(fixture.relists).hasSizeBetween(7, 8);
    }

    @Test
    void aHintInCalmTimesIsFollowedByAListOfAllWithinASecond() {
        PlegFixture fixture = calm();
        while (fixture.relists.isEmpty()) {
            fixture.advanceMillis(1);
        }

        // The runtime tells what happened before its own list shows it.
        fixture.pleg.hint(new ContainerEvent("u1-app", "u1", ContainerEvent.Type.STOPPED));
        fixture.advanceMillis(200);
        fixture.runtime.container("u1-app", "u1", "app", ContainerState.EXITED);
        fixture.advanceMillis(801);

        assertThat(fixture.containerEvents()).containsExactly("DIED u1-app");
    }

    @Test
    void listsAreFrequentAgainAtOnceWhenTheEventStreamEnds() {
        PlegFixture fixture = calm();

        fixture.pleg.eventsEnded();
        fixture.advanceSeconds(20);

        assertThat(fixture.relists).hasSizeBetween(19, 21);
    }

    @Test
    void listsStayFrequentWhileAPodCannotBeInspected() {
        PlegFixture fixture = calm();
        fixture.runtime.fail("ContainerStatus:u1-app", PlegFixture.BROKEN);
        fixture.runtime.container("u1-app", "u1", "app", ContainerState.EXITED);
        fixture.advanceSeconds(20);

        fixture.relists.clear();
        fixture.advanceSeconds(20);

        assertThat(fixture.relists).hasSizeBetween(19, 21);
    }

    @ParameterizedTest
    @EnumSource(
            value = PlegConfig.Mode.class,
            names = {"SERIAL", "SERIAL_TWICE"})
    void theSerialModesListEverySecondAsKubernetesDoes(PlegConfig.Mode mode) {
        PlegFixture fixture = new PlegFixture(config(mode));
        fixture.pleg.start();
        fixture.pleg.eventsOpened();
        fixture.advanceSeconds(60);

        fixture.relists.clear();
        fixture.advanceSeconds(20);

        assertThat(fixture.relists).hasSize(20);
    }

    @Test
    void listOfAllTakesPrecedenceOverListsOfSinglePods() {
        PlegFixture fixture = PlegFixture.parallel();
        fixture.runtime.pod("u1", "app");
        fixture.pleg.start();
        fixture.advanceMillis(900);
        fixture.containerEvents();
        // Both lists take 300 ms: the single one, begun at 900 ms, would overlap with that of all, begun at 1 s.
        fixture.runtime.delay("ListContainers", Duration.ofMillis(300));
        fixture.pleg.relistPod("u1");
        fixture.advanceMillis(200);
        assertThat(fixture.podRelists).as("taken back").containsExactly(Duration.ofMillis(100));

        fixture.runtime.container("u1-app", "u1", "app", ContainerState.EXITED);
        fixture.pleg.relistPod("u1");
        fixture.advanceMillis(100);
        assertThat(fixture.podRelists).as("waits for the list of all").hasSize(1);

        fixture.advanceMillis(400);
        assertThat(fixture.containerEvents()).containsExactly("DIED u1-app");
        assertThat(fixture.podRelists).hasSize(2);
        fixture.advanceSeconds(10);
        assertThat(fixture.podRelists).hasSize(2);
    }

    @Test
    void moreRequestsThanFitBecomeAListOfAll() {
        PlegFixture fixture = PlegFixture.parallel();
        fixture.pleg.start();
        fixture.advanceMillis(500);
        fixture.runtime.hang("ListContainers");
        for (int i = 0; i < 201; i++) {
            fixture.pleg.relistPod("u" + i);
        }
        fixture.runtime.heal("ListContainers");
        fixture.advanceMillis(1);

        assertThat(fixture.intervals).containsExactly(Duration.ofMillis(500));
        assertThat(fixture.podRelists).as("none but those taken back").hasSize(8);
    }

    @Test
    void serialModesTakeNoHints() {
        PlegFixture fixture = new PlegFixture(PlegConfig.REFERENCE);
        fixture.pleg.start();
        fixture.advanceMillis(500);
        fixture.runtime.calls().clear();

        fixture.pleg.hint(new ContainerEvent("c1", "", ContainerEvent.Type.STARTED));
        fixture.pleg.relistPod("u1");
        fixture.advanceMillis(499);

        assertThat(fixture.runtime.calls()).isEmpty();
    }
}
