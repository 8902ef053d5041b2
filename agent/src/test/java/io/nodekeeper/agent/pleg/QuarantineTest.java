package io.nodekeeper.agent.pleg;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.cri.Container;
import io.nodekeeper.cri.ContainerState;
import io.nodekeeper.cri.RuntimeCall;
import org.junit.jupiter.api.Test;

class QuarantineTest {
    private static final long SECOND = 1_000_000_000L;
    private static final PodRef POD = new PodRef("u1", "web", "default");
    private static final RuntimeCall<?> CALL = new RuntimeCall.GetContainer("c1");

    private final Quarantine quarantine = new Quarantine(PlegConfig.PARALLEL.quarantine());

    @Test
    void waitsDoubleFromOneSecondToTwoMinutes() {
        long now = 0;
        for (int wait : new int[] {1, 2, 4, 8, 16, 32, 64, 120, 120}) {
            quarantine.timedOut(POD, CALL, now, now + 10 * SECOND);
            now += 10 * SECOND;
            assertThat(quarantine.mayTry("u1", now + wait * SECOND - 1)).isFalse();
            assertThat(quarantine.mayTry("u1", now + wait * SECOND)).isTrue();
            now += wait * SECOND;
        }
        assertThat(quarantine.stuck()).containsExactly(new StuckPod(POD, CALL, 0, 9));
    }

    @Test
    void releasedPodStartsAgainWithTheShortestPause() {
        quarantine.timedOut(POD, CALL, 0, SECOND);
        quarantine.timedOut(POD, CALL, SECOND, 2 * SECOND);

        quarantine.release("u1");

        assertThat(quarantine.size()).isZero();
        assertThat(quarantine.mayTry("u1", 2 * SECOND)).isTrue();
        assertThat(quarantine.timedOut(POD, CALL, 5 * SECOND, 6 * SECOND))
                .isEqualTo(new StuckPod(POD, CALL, 5 * SECOND, 1));
    }

    @Test
    void hastenedPodMayBeTriedAtOnceAndKeepsItsHistory() {
        quarantine.timedOut(POD, CALL, 0, 0);

        quarantine.hasten("u1", 0);
        quarantine.hasten("other", 0);

        assertThat(quarantine.mayTry("u1", 0)).isTrue();
        assertThat(quarantine.timedOut(POD, CALL, 0, 0).tries()).isEqualTo(2);
        assertThat(quarantine.holds("other")).isFalse();
    }

    @Test
    void podIsFreeOnceWhatDidNotAnswerIsGone() {
        ListedPod listed = new ListedPod(POD);
        listed.add(new Container("c1", "s1", "app", "u1", ContainerState.RUNNING, 1));
        quarantine.timedOut(POD, CALL, 0, 0);

        quarantine.reconsider("u1", listed);
        assertThat(quarantine.holds("u1")).isTrue();

        quarantine.reconsider("u1", new ListedPod(POD));
        assertThat(quarantine.holds("u1")).isFalse();
    }
}
