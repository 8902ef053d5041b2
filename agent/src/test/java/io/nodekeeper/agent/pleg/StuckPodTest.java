package io.nodekeeper.agent.pleg;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.cri.ContainerState;
import io.nodekeeper.cri.RuntimeCall;
import io.nodekeeper.cri.RuntimeCallException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Incident I-5: a pod whose status is never answered. */
class StuckPodTest {
    private static final Duration DAY = Duration.ofHours(24);

    /** {@code pods} pods {@code u0}…, of which the first {@code stuck} hang. */
    private static PlegFixture node(PlegConfig config, int pods, int stuck) {
        PlegFixture fixture = new PlegFixture(config);
        for (int i = 0; i < pods; i++) {
            fixture.runtime.pod("u" + i, "app");
            if (i < stuck) {
                fixture.runtime.hang("PodSandboxStatus:s-u" + i);
            }
        }
        fixture.pleg.start();
        return fixture;
    }

    @Test
    @Tag("A84")
    void oneStuckPodOfThirtyDelaysNoOtherPod() {
        PlegFixture fixture = node(PlegConfig.PARALLEL, 30, 1);
        fixture.advanceMillis(1500);

        CompletableFuture<PodStatusCache.Entry> answer =
                fixture.pleg.cache().getNewerThan("u7", fixture.loop.nanoTime());
        fixture.advanceMillis(500);
        assertThat(answer).isCompleted();

        assertThat(fixture.flips(Duration.ofHours(1))).isZero();
        assertThat(fixture.pleg.unhealthy()).isEmpty();
        assertThat(fixture.relists).containsOnly(Duration.ZERO);
    }

    @Test
    @Tag("A84")
    void referenceWithOneStuckPodStaysHealthyButAllWaitTwoMinutes() {
        PlegFixture fixture = node(PlegConfig.REFERENCE, 30, 1);
        fixture.advanceMillis(120_500);
        CompletableFuture<PodStatusCache.Entry> answer =
                fixture.pleg.cache().getNewerThan("u7", fixture.loop.nanoTime());
        fixture.advanceSeconds(120);
        assertThat(answer).isNotDone();
        fixture.advanceMillis(500);
        assertThat(answer).isCompleted();

        assertThat(fixture.flips(Duration.ofHours(1))).isZero();
        assertThat(fixture.pleg.unhealthy()).isEmpty();
        assertThat(fixture.relists).containsOnly(Duration.ofSeconds(120));
    }

    @Test
    @Tag("A84")
    void referenceWithTwoStuckPodsFlaps() {
        PlegFixture fixture = node(PlegConfig.REFERENCE, 30, 2);
        fixture.advanceMillis(1);
        int healthy = 0;
        for (int second = 0; second < 241; second++) {
            healthy += fixture.pleg.unhealthy().isEmpty() ? 1 : 0;
            fixture.advanceSeconds(1);
        }

        assertThat(healthy).isEqualTo(180);
        assertThat(fixture.flips(Duration.ofSeconds(2410))).isEqualTo(20);
        assertThat(fixture.relists).containsOnly(Duration.ofSeconds(240));
    }

    @Test
    @Tag("A85")
    @Tag("I-5")
    void referenceOf121FlapsAllDayWithOneStuckPod() {
        PlegFixture fixture = node(PlegConfig.REFERENCE_1_21, 30, 1);
        fixture.advanceSeconds(121 + 181);
        assertThat(fixture.pleg.unhealthy()).contains("pleg was last seen active 3m1s ago; threshold is 3m0s");
        fixture.advanceSeconds(60);
        assertThat(fixture.pleg.unhealthy()).isEmpty();

        // A cycle takes 241 s: 86400 / 241 = 358 losses of Ready, and as many recoveries.
        assertThat(fixture.flips(DAY)).isEqualTo(716);
        assertThat(fixture.relists.getFirst()).isEqualTo(Duration.ofSeconds(120));
        assertThat(fixture.relists.subList(1, fixture.relists.size())).containsOnly(Duration.ofSeconds(240));
    }

    @Test
    @Tag("A85")
    @Tag("I-5")
    void oneStuckPodAllDayIsNoReasonToFlap() {
        PlegFixture fixture = node(PlegConfig.PARALLEL, 1, 1);
        fixture.advanceMillis(1);

        assertThat(fixture.flips(DAY)).isZero();
        assertThat(fixture.pleg.unhealthy()).isEmpty();
        assertThat(fixture.pleg.stuck()).hasSize(1);
        StuckPod stuck = fixture.pleg.stuck().getFirst();
        assertThat(stuck.pod()).isEqualTo(new PodRef("u0", "pod-u0", "default"));
        assertThat(stuck.call()).isEqualTo(new RuntimeCall.GetSandbox("s-u0"));
        assertThat(stuck.since()).isZero();
        assertThat(stuck.tries()).as("every 130 s").isBetween(650, 675);
    }

    @Test
    @Tag("I-5")
    void tenOfAHundredStuckAllDayAreNoReasonToFlapAndTheOthersStayFresh() {
        PlegFixture fixture = node(PlegConfig.PARALLEL, 100, 10);
        fixture.advanceMillis(2_000);
        int flips = 0;
        long oldest = 0;
        // Every 41 s another pod changes, so that changes meet every phase of the lists and of the retries.
        for (int round = 0; round * 41 < DAY.toSeconds(); round++) {
            String uid = "u" + (10 + round % 90);
            ContainerState state = round / 90 % 2 == 0 ? ContainerState.EXITED : ContainerState.RUNNING;
            fixture.advanceMillis(round % 10 * 100);
            fixture.runtime.container(uid + "-app", uid, "app", state);
            fixture.advanceSeconds(2);
            assertThat(fixture.pleg
                            .cache()
                            .get(uid)
                            .status()
                            .containers()
                            .getFirst()
                            .state())
                    .isEqualTo(state);
            for (int pod = 10; pod < 100; pod++) {
                long fresh = fixture.pleg.cache().freshAt("u" + pod).orElseThrow();
                oldest = Math.max(oldest, fixture.loop.nanoTime() - fresh);
            }
            fixture.advanceMillis(1_000 - round % 10 * 100);
            flips += fixture.flips(Duration.ofSeconds(38));
        }

        assertThat(flips).isZero();
        assertThat(fixture.pleg.unhealthy()).isEmpty();
        assertThat(Duration.ofNanos(oldest)).isLessThanOrEqualTo(Duration.ofSeconds(2));
        assertThat(fixture.stuck).isEqualTo(10);
    }

    @Test
    void podsThatBeginToHangTogetherDelayTheOthersByLittle() {
        PlegFixture fixture = node(PlegConfig.PARALLEL, 100, 0);
        fixture.advanceMillis(1_500);
        for (int i = 0; i < 24; i++) {
            fixture.runtime.hang("ContainerStatus:u" + i + "-app");
            fixture.runtime.container("u" + i + "-app", "u" + i, "app", ContainerState.EXITED);
        }
        fixture.runtime.container("u99-app", "u99", "app", ContainerState.EXITED);
        fixture.containerEvents();

        fixture.advanceMillis(3_500);

        assertThat(fixture.containerEvents()).containsExactly("DIED u99-app");
        assertThat(fixture.runtime.calls("ContainerStatus")).isEqualTo(100 + 25);
    }

    @Test
    void slowRuntimeMakesNoPodStuck() {
        PlegFixture fixture = node(PlegConfig.PARALLEL, 30, 0);
        fixture.runtime.delay("*", Duration.ofSeconds(5));

        fixture.advanceSeconds(15);

        assertThat(fixture.containerEvents()).hasSize(30);
        assertThat(fixture.pleg.stuck()).isEmpty();
        assertThat(fixture.pleg.unhealthy()).isEmpty();
    }

    @Test
    void mostPodsStuckMakeTheNodeUnhealthyUntilTheyAreFree() {
        PlegFixture fixture = node(PlegConfig.PARALLEL, 10, 6);
        fixture.advanceSeconds(11);
        assertThat(fixture.pleg.unhealthy()).contains("6 of 10 pods did not answer within 10s");

        fixture.runtime.heal("PodSandboxStatus:s-u0");
        fixture.advanceSeconds(30);
        assertThat(fixture.pleg.stuck()).hasSize(5);
        assertThat(fixture.pleg.unhealthy()).contains("pleg is active again, but not for 30s yet");

        fixture.advanceSeconds(30);
        assertThat(fixture.pleg.unhealthy()).isEmpty();
    }

    @Test
    void stuckPodWaitsLongerAndLongerAndIsFreeOnceItAnswers() {
        PlegFixture fixture = node(PlegConfig.PARALLEL, 2, 1);
        fixture.advanceSeconds(300);
        assertThat(fixture.pleg.stuck()).hasSize(1);
        assertThat(fixture.pleg.cache().get("u0").error().orElseThrow())
                .hasMessage("PodSandboxStatus did not answer within 10s");

        fixture.runtime.heal("PodSandboxStatus:s-u0");
        fixture.containerEvents();
        fixture.advanceSeconds(121);

        assertThat(fixture.pleg.stuck()).isEmpty();
        assertThat(fixture.stuck).isZero();
        assertThat(fixture.containerEvents()).containsExactly("STARTED u0-app");
        assertThat(fixture.pleg.cache().get("u0").error()).isEmpty();
    }

    @Test
    void requestByHandNeedNotWaitForTheQuarantine() {
        PlegFixture fixture = node(PlegConfig.PARALLEL, 2, 1);
        fixture.advanceSeconds(260);
        assertThat(fixture.pleg.stuck()).hasSize(1);
        fixture.runtime.heal("PodSandboxStatus:s-u0");
        fixture.advanceSeconds(2);
        assertThat(fixture.pleg.stuck()).as("waits").hasSize(1);

        fixture.pleg.relistPod("u0");
        fixture.advanceMillis(1);

        assertThat(fixture.pleg.stuck()).isEmpty();
    }

    @Test
    void deadlineOfTheRuntimeItselfCountsAsStuckAndAnotherErrorAsAnAnswer() {
        PlegFixture fixture = node(PlegConfig.PARALLEL, 1, 0);
        fixture.runtime.fail(
                "ContainerStatus",
                new RuntimeCallException(
                        "ContainerStatus", RuntimeCallException.Code.DEADLINE_EXCEEDED, "shim does not answer"));
        fixture.advanceMillis(1);
        assertThat(fixture.pleg.stuck())
                .extracting(StuckPod::call)
                .containsExactly(new RuntimeCall.GetContainer("u0-app"));

        fixture.runtime.fail("ContainerStatus", PlegFixture.BROKEN);
        fixture.advanceSeconds(1);

        assertThat(fixture.pleg.stuck()).isEmpty();
        assertThat(fixture.pleg.cache().get("u0").error()).contains(PlegFixture.BROKEN);
    }

    @Test
    void stuckPodThatGoesAwayIsForgotten() {
        PlegFixture fixture = node(PlegConfig.PARALLEL, 2, 1);
        fixture.advanceSeconds(15);
        fixture.containerEvents();

        fixture.runtime.removePod("u0");
        fixture.advanceSeconds(1);

        assertThat(fixture.pleg.stuck()).isEmpty();
        assertThat(fixture.containerEvents()).as("nothing was ever told of it").isEmpty();
        assertThat(fixture.pleg.cache().get("u0")).isEqualTo(new PodStatusCache().get("u0"));
    }

    @Test
    void podIsInspectedAtOnceWhenTheStuckContainerIsRemoved() {
        PlegFixture fixture = node(PlegConfig.PARALLEL, 1, 0);
        fixture.runtime.container("u0-bad", "u0", "bad", ContainerState.RUNNING);
        fixture.runtime.hang("ContainerStatus:u0-bad");
        fixture.advanceSeconds(260);
        assertThat(fixture.pleg.stuck()).hasSize(1);
        fixture.containerEvents();

        fixture.runtime.remove("u0-bad");
        fixture.advanceSeconds(12);

        assertThat(fixture.pleg.stuck()).isEmpty();
        assertThat(fixture.containerEvents()).isEqualTo(List.of("STARTED u0-app"));
    }
}
