package io.nodekeeper.controller.observer;

import static io.nodekeeper.controller.observer.ProofKind.LIST;
import static io.nodekeeper.controller.observer.ProofKind.WATCH;
import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What counts as a proof of sight, and how much time is given back without one. The tolerance is 3 s. */
class ObserverGuardTest {
    private final ObserverGuard guard = ObserverGuard.watching(Duration.ofSeconds(1), Duration.ofSeconds(3));

    @BeforeEach
    void begin() {
        guard.start(0);
        guard.begin(0);
    }

    @Test
    void canaryWithADelayedWriteProvesNothing() {
        guard.seen(s(4), false, WATCH, s(8));

        assertThat(guard.proves(s(1))).isFalse();
        assertThat(guard.lost()).isZero();
    }

    @Test
    void canaryWithAPromptWriteProvesItsTimeEvenIfItIsSeenLate() {
        for (int second = 1; second <= 5; second++) {
            guard.seen(s(second), true, WATCH, s(20));
        }

        assertThat(guard.proves(s(4))).isTrue();
        assertThat(guard.proves(s(5))).isFalse();
        assertThat(guard.lost()).isZero();
        assertThat(guard.isBlind(s(20))).isTrue();
    }

    @Test
    void acknowledgementAfterTheToleranceIsNotPrompt() {
        assertThat(guard.acknowledged(s(1), s(4))).isTrue();
        assertThat(guard.acknowledged(s(1), s(5))).isFalse();
    }

    @Test
    void gapBetweenProofsIsGivenBackWhole() {
        guard.seen(s(1), true, WATCH, s(1));
        guard.seen(s(6), true, WATCH, s(6));

        assertThat(guard.lost()).isEqualTo(s(5));
    }

    @Test
    void proofByAListAsksForTwiceItsReachMore() {
        guard.seen(s(3), true, LIST, s(3));
        guard.seen(s(6), true, LIST, s(6));
        guard.seen(s(9), true, LIST, s(9));

        assertThat(guard.proves(s(2))).isTrue();
        assertThat(guard.proves(s(3))).isFalse();
    }

    @Test
    void renewalsProveNothingWhileTheCanaryHangs() {
        guard.answered(s(1));

        guard.renewalsRead(s(5), s(2), s(5));
        assertThat(guard.nodeTime(s(9))).isEqualTo(s(3));

        guard.answered(s(6));
        guard.renewalsRead(s(6), s(2), s(6));
        assertThat(guard.nodeTime(s(6))).isEqualTo(s(3));
        assertThat(guard.lost()).isEqualTo(s(3));
    }

    @Test
    void clockNeverRunsBackOverProofsByRenewals() {
        long before = 0;
        for (int millis = 0; millis <= 60_000; millis += 100) {
            long now = millis * 1_000_000L;
            assertThat(guard.nodeTime(now)).isGreaterThanOrEqualTo(before);
            before = guard.nodeTime(now);
            if (millis % 5_000 == 4_900) {
                guard.answered(now);
                guard.renewalsRead(now, s(2), now);
            }
        }
    }

    @Test
    void blindTimeIsSplitOverTheHopsAndTheLongestIsNamed() {
        for (int second = 1; second <= 40; second++) {
            guard.tick(s(second));
        }
        for (int second = 41; second <= 50; second++) {
            guard.acknowledged(s(second), s(second));
            guard.tick(s(second));
        }
        SightChange change = guard.seen(s(50), true, WATCH, s(50)).orElseThrow();

        assertThat(change.hop()).isEqualTo(StalledHop.API_SERVER);
        assertThat(guard.takeBlindTime()).isEqualTo(Map.of(StalledHop.API_SERVER, s(40), StalledHop.WATCH, s(10)));
    }

    @Test
    void canariesThatAreLateAllTheTimeButNotTooLateEndABlindness() {
        // given a blindness
        for (int second = 1; second <= 4; second++) {
            guard.tick(s(second));
        }
        // when canaries come back after 1.8 s, of the tolerance of 3 s
        List<SightChange> changes = new ArrayList<>();
        for (int second = 4; second <= 40; second++) {
            guard.seen(s(second), true, WATCH, s(second) + s(18) / 10).ifPresent(changes::add);
            guard.tick(s(second + 2)).ifPresent(changes::add);
        }
        // then it is over after 10 s
        assertThat(changes).singleElement().isEqualTo(new SightChange.Sees(StalledHop.API_SERVER, s(16), s(4)));
        assertThat(guard.takeBlindTime()).isNotEmpty();
        guard.tick(s(43));
        assertThat(guard.takeBlindTime()).isEmpty();
    }

    @Test
    void canariesThatAreTooLateFromTimeToTimeDoNotEndABlindness() {
        for (int second = 1; second <= 4; second++) {
            guard.tick(s(second));
        }
        for (int second = 4; second <= 40; second++) {
            if (second % 9 < 6) {
                assertThat(guard.seen(s(second), true, WATCH, s(second) + s(18) / 10))
                        .isEmpty();
            }
            assertThat(guard.tick(s(second + 2)).filter(change -> change instanceof SightChange.Sees))
                    .isEmpty();
        }
    }

    @Test
    void spansThatAreGivenBackAreRemembered() {
        // given a proof at 1 s and a store that hangs until 60 s
        guard.seen(s(1), true, WATCH, s(1));
        for (int second = 2; second <= 60; second++) {
            guard.alive(s(second));
            guard.tick(s(second));
        }
        // when sight returns
        guard.seen(s(60), true, WATCH, s(60));
        // then the span is known for as long as nodes may be late because of it
        guard.seen(s(61), true, WATCH, s(61));
        assertThat(guard.spans()).containsExactly(new DarkSpan(s(1), s(60)));
    }

    @Test
    void aPauseOfThisProcessIsNoSpanInWhichNodesCouldNotRenew() {
        guard.seen(s(1), true, WATCH, s(1));
        guard.tick(s(1));
        // given a process that stands still for 60 s
        guard.tick(s(61));
        guard.seen(s(61), true, WATCH, s(61));

        assertThat(guard.lost()).isEqualTo(s(60));
        assertThat(guard.spans()).isEmpty();
    }

    @Test
    void onlyTheLatestSpansAreRemembered() {
        for (int second = 1; second <= 6_000; second++) {
            guard.alive(s(second));
            guard.tick(s(second));
            if (second % 60 == 0) {
                guard.seen(s(second), true, WATCH, s(second));
            }
        }

        assertThat(guard.spans()).hasSize(64);
        assertThat(guard.spans().getLast()).isEqualTo(new DarkSpan(s(5_940), s(6_000)));
    }

    private static long s(long seconds) {
        return seconds * 1_000_000_000L;
    }
}
