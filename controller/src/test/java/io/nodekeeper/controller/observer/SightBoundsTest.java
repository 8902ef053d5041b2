package io.nodekeeper.controller.observer;

import static io.nodekeeper.controller.observer.ProofKind.LIST;
import static io.nodekeeper.controller.observer.ProofKind.RENEWALS;
import static io.nodekeeper.controller.observer.ProofKind.WATCH;
import static io.nodekeeper.controller.observer.StalledHop.API_SERVER;
import static io.nodekeeper.controller.observer.StalledHop.CONTROLLER;
import static io.nodekeeper.controller.observer.StalledHop.STORE;
import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The exact bounds of sight, to the nanosecond. The period is 1 s, the tolerance 3 s. */
@Tag("W1")
class SightBoundsTest {
    private final ObserverGuard guard = ObserverGuard.watching(Duration.ofSeconds(1), Duration.ofSeconds(3));

    @Test
    void disabledGuardTrustsEverythingAndGivesNothingBack() {
        ObserverGuard off = ObserverGuard.off();
        off.start(0);
        off.begin(0);
        long days = Duration.ofDays(30).toNanos();

        assertThat(off.isOn()).isFalse();
        assertThat(off.proves(days)).isTrue();
        assertThat(off.isBlind(days)).isFalse();
        assertThat(off.tick(days)).isEmpty();
        assertThat(off.seen(days, true, WATCH, days)).isEmpty();
        off.answered(days);
        off.renewalsRead(days, s(2), days);
        assertThat(off.lost()).isZero();
        assertThat(off.means()).isEqualTo(WATCH);
    }

    @Test
    void controllerThatDoesNotNeedSightYetIsNotBlind() {
        assertThat(guard.isBlind(s(100))).isFalse();
        assertThat(guard.canaryAge(s(100))).isZero();
        assertThat(guard.blindness(s(100))).isEmpty();
    }

    @Test
    void untilCanariesAreSentTheClockJustRunsAndNothingIsProven() {
        guard.start(s(1));

        assertThat(guard.isOn()).isTrue();
        assertThat(guard.seen(s(2), true, WATCH, s(2))).isEmpty();
        guard.answered(s(9));
        guard.renewalsRead(s(9), s(2), s(9));

        assertThat(guard.nodeTime(s(100))).isEqualTo(s(100));
        assertThat(guard.proves(s(1))).isFalse();
        assertThat(guard.proves(-s(1))).isFalse();
        assertThat(guard.lost()).isZero();
        assertThat(guard.canaryAge(s(3))).isEqualTo(s(2));
    }

    @Test
    void sightIsLostStrictlyAfterTheTolerance() {
        begin();
        ticks(1, 2);

        assertThat(guard.isBlind(s(3))).isFalse();
        assertThat(guard.tick(s(3))).isEmpty();
        assertThat(guard.isBlind(s(3) + 1)).isTrue();
        assertThat(guard.tick(s(3) + 1)).contains(new SightChange.Blind(API_SERVER, 0));
    }

    @Test
    void firstCanaryStartsTheTimeAgainUnlessTheControllerIsBlindAlready() {
        guard.start(0);
        guard.begin(s(2));
        assertThat(guard.canaryAge(s(3))).isEqualTo(s(1));

        ObserverGuard blind = ObserverGuard.watching(Duration.ofSeconds(1), Duration.ofSeconds(3));
        blind.start(0);
        blind.tick(s(4));
        blind.begin(s(5));
        assertThat(blind.canaryAge(s(6))).isEqualTo(s(6));
        assertThat(blind.isBlind(s(6))).isTrue();
        assertThat(blind.nodeTime(s(9))).as("it runs on from the beginning").isEqualTo(s(8));
    }

    @Test
    void clockRunsOnForTheToleranceAfterAProof() {
        begin();
        guard.seen(s(1), true, WATCH, s(1));

        assertThat(guard.nodeTime(s(4))).isEqualTo(s(4));
        assertThat(guard.nodeTime(s(5))).isEqualTo(s(4));
    }

    @Test
    void gapOfTheWholeToleranceIsNotGivenBackAndALongerOneIs() {
        begin();
        guard.seen(s(3), true, WATCH, s(3));
        assertThat(guard.lost()).isZero();

        guard.seen(s(6) + 1, true, WATCH, s(6) + 1);
        assertThat(guard.lost()).isEqualTo(s(3) + 1);
        assertThat(guard.whenNodeTime(s(10))).isEqualTo(s(13) + 1);
        assertThat(guard.nodeTime(s(7))).isEqualTo(s(4) - 1);
        assertThat(guard.proves(s(3) - 1)).isTrue();
        assertThat(guard.proves(s(3))).isFalse();
    }

    @Test
    void canaryOfUnknownWriteCountsIfItIsSeenWithinTheTolerance() {
        begin();
        guard.seen(s(1), false, WATCH, s(4) + 1);
        assertThat(guard.proves(0)).isFalse();

        guard.seen(s(1), false, WATCH, s(4));
        assertThat(guard.proves(0)).isTrue();
        assertThat(guard.proves(s(1) - 1)).isTrue();
        assertThat(guard.proves(s(1))).isFalse();
    }

    @Test
    void proofOfSomethingOlderChangesNothing() {
        begin();
        guard.seen(s(2), true, WATCH, s(2));

        assertThat(guard.seen(s(1), true, LIST, s(2))).isEmpty();
        assertThat(guard.seen(s(2), true, LIST, s(2))).isEmpty();
        assertThat(guard.means()).isEqualTo(WATCH);
        guard.seen(s(1), true, WATCH, s(3));

        assertThat(guard.canaryAge(s(3))).isEqualTo(s(1));
        assertThat(guard.proves(s(2) - 1)).isTrue();
    }

    @Test
    void proofByAListIsTwoToleranceWeakerToTheNanosecond() {
        begin();
        for (int second = 3; second <= 9; second += 3) {
            guard.seen(s(second), true, LIST, s(second));
        }

        assertThat(guard.means()).isEqualTo(LIST);
        assertThat(guard.proves(s(3) - 1)).isTrue();
        assertThat(guard.proves(s(3))).isFalse();
    }

    @Test
    void pauseBetweenTwoProofsIsReportedEvenIfNoTickNoticedIt() {
        begin();

        SightChange change = guard.seen(s(5), true, WATCH, s(5)).orElseThrow();

        assertThat(change).isEqualTo(new SightChange.Sees(CONTROLLER, s(5), s(5)));
        assertThat(guard.takeBlindTime()).isEqualTo(Map.of(CONTROLLER, s(4), API_SERVER, s(1)));
        assertThat(guard.takeBlindTime()).isEmpty();
    }

    @Test
    void blindnessEndsWithACanaryThatTookHalfTheToleranceAtMost() {
        begin();
        ticks(1, 4);
        assertThat(guard.seen(s(4), true, WATCH, s(4) + s(3) / 2 + 1)).isEmpty();
        assertThat(guard.lost()).as("it is a proof all the same").isEqualTo(s(4));

        SightChange change = guard.seen(s(5), true, WATCH, s(5) + s(3) / 2).orElseThrow();

        assertThat(change).isEqualTo(new SightChange.Sees(API_SERVER, s(6) + s(1) / 2, s(4)));
    }

    @Test
    void onlyACanaryOutOfTheWatchEndsBlindness() {
        begin();
        ticks(1, 4);

        assertThat(guard.seen(s(5), true, LIST, s(5))).isEmpty();

        assertThat(guard.isBlind(s(5))).isTrue();
        assertThat(guard.canaryAge(s(5))).isEqualTo(s(5));
        assertThat(guard.lost()).isEqualTo(s(5));
    }

    @Test
    void secondBlindnessIsCountedForItself() {
        begin();
        ticks(1, 4);
        guard.seen(s(10), true, WATCH, s(10));
        ticks(11, 14);

        SightChange change = guard.seen(s(16), true, WATCH, s(16)).orElseThrow();

        assertThat(change).isEqualTo(new SightChange.Sees(API_SERVER, s(6), s(6)));
        assertThat(guard.lost()).isEqualTo(s(16));
    }

    @Test
    void timeBetweenCanariesInTimeIsNotBooked() {
        begin();
        guard.alive(s(2));
        guard.tick(s(2));
        assertThat(guard.seen(s(2), true, WATCH, s(2))).isEmpty();
        ticks(3, 6);

        guard.seen(s(8), true, WATCH, s(8));

        assertThat(guard.takeBlindTime())
                .as("the 6 s since the last canary that was seen")
                .isEqualTo(Map.of(STORE, s(2), API_SERVER, s(3), CONTROLLER, s(1)));
    }

    @Test
    void judgementIsFullWithSightAndNoneWithoutAnyProof() {
        begin();
        assertThat(guard.judgement(s(3))).isEqualTo(VerdictBasis.FULL);
        ticks(1, 4);

        assertThat(guard.judgement(s(4))).isEqualTo(VerdictBasis.NONE);
    }

    @Test
    void judgementBeforeTheFirstCanaryIsNone() {
        guard.start(0);
        ticks(1, 4);

        assertThat(guard.judgement(s(4))).isEqualTo(VerdictBasis.NONE);
    }

    @Test
    void judgementByListsEndsFourTolerancesAfterTheLastOne() {
        begin();
        ticks(1, 4);
        guard.seen(s(5), true, LIST, s(5));

        assertThat(guard.judgement(s(5))).isEqualTo(VerdictBasis.LIST);
        assertThat(guard.judgement(s(17))).isEqualTo(VerdictBasis.LIST);
        assertThat(guard.judgement(s(17) + 1)).isEqualTo(VerdictBasis.NONE);
    }

    @Test
    void judgementByALateWatchIsLate() {
        begin();
        ticks(1, 4);
        guard.seen(s(5), true, WATCH, s(9));

        assertThat(guard.judgement(s(9))).isEqualTo(VerdictBasis.LATE);
    }

    @Test
    void judgementByRenewalsLastsForTwoReadingsAndAPeriod() {
        begin();
        ticks(1, 4);
        guard.answered(s(5));
        guard.renewalsRead(s(5), s(8), s(5));

        // One reading and a half reach for 12 s.
        assertThat(guard.judgement(s(5))).isEqualTo(VerdictBasis.RENEWALS);
        assertThat(guard.judgement(s(30))).isEqualTo(VerdictBasis.RENEWALS);
        assertThat(guard.judgement(s(30) + 1)).isEqualTo(VerdictBasis.NONE);
        assertThat(guard.nodeTime(s(30)))
                .as("12 s beyond 5 s, 2 s of which are lost")
                .isEqualTo(s(15));
    }

    @Test
    void renewalsCountIfTheServerAnsweredACanaryWithinTheTolerance() {
        begin();
        guard.answered(s(2));
        guard.renewalsRead(s(5), s(2), s(5) + 1);
        assertThat(guard.means()).isEqualTo(WATCH);

        guard.renewalsRead(s(5), s(2), s(5));
        assertThat(guard.means()).isEqualTo(RENEWALS);
    }

    @Test
    void acknowledgedCanaryIsAnAnswer() {
        begin();
        guard.acknowledged(s(2), s(2));
        guard.renewalsRead(s(5), s(2), s(5));

        assertThat(guard.means()).isEqualTo(RENEWALS);
    }

    @Test
    void renewalsOfTheToleranceAfterACanaryDoNotCount() {
        begin();
        guard.seen(s(1), true, WATCH, s(1));
        guard.answered(s(4));
        guard.renewalsRead(s(4), s(2), s(4));

        assertThat(guard.means()).isEqualTo(WATCH);
    }

    @Test
    void otherWriteOfThisProcessStandsInForTheCanary() {
        begin();
        ticks(1, 4);
        guard.answered(s(5));
        guard.otherWrite(s(5), s(2), s(5));

        assertThat(guard.means()).isEqualTo(ProofKind.WRITES);
        assertThat(guard.judgement(s(5))).isEqualTo(VerdictBasis.WRITES);
    }

    @Test
    void betterProofWithinTheToleranceKeepsRenewalsFromCounting() {
        begin();
        guard.answered(s(3));
        guard.renewalsRead(s(3), s(2), s(3));
        assertThat(guard.means()).isEqualTo(WATCH);

        guard.renewalsRead(s(3) + 1, s(2), s(3) + 1);
        assertThat(guard.means()).isEqualTo(RENEWALS);
        guard.renewalsRead(s(4), s(2), s(4));
        assertThat(guard.nodeTime(s(100))).isEqualTo(s(7) - 1);
    }

    @Test
    void renewalsGiveBackWhatTheClockDidNotRunAndAfterTwoMissedReadingsAll() {
        begin();
        guard.answered(s(6));
        guard.renewalsRead(s(6), s(2), s(6));
        assertThat(guard.lost()).isEqualTo(s(3));

        guard.answered(s(12) + 1);
        guard.renewalsRead(s(12) + 1, s(2), s(12) + 1);
        assertThat(guard.lost()).isEqualTo(s(9) + 1);
    }

    @Test
    void readingWithinTheReachOfTheOneBeforeGivesNothingBack() {
        begin();
        guard.answered(s(6));
        guard.renewalsRead(s(6), s(8), s(6));
        guard.answered(s(16));
        guard.renewalsRead(s(16), s(8), s(16));

        assertThat(guard.lost()).isEqualTo(s(3));
    }

    @Test
    void listKeepsTheReachOfRenewalsAndTheWatchDoesNot() {
        begin();
        guard.answered(s(6));
        guard.renewalsRead(s(6), s(8), s(6));

        guard.seen(s(8), true, LIST, s(8));
        assertThat(guard.nodeTime(s(100))).isEqualTo(s(8 + 12 - 3));

        guard.seen(s(9), true, WATCH, s(9));
        assertThat(guard.nodeTime(s(100))).isEqualTo(s(9 + 3 - 3));
    }

    @Test
    void serverThatAnswersSomethingIsNotTheOneThatStalls() {
        begin();
        for (int second = 1; second <= 4; second++) {
            guard.alive(s(second));
            guard.tick(s(second));
        }

        assertThat(guard.hop()).isEqualTo(STORE);
        assertThat(guard.blindness(s(4)))
                .contains("nothing seen for 4s: the API server answers, but accepts no writes (store);"
                        + " no node gets a verdict, and the nodes' clock stands still");
    }

    @Test
    void answersOlderThanTwoPeriodsAndAHalfSayNothing() {
        begin();
        guard.alive(s(3) / 2);

        assertThat(guard.tick(s(4)))
                .as("2.5 s old; 3 s of it this process stood still")
                .contains(new SightChange.Blind(CONTROLLER, 0));
        guard.seen(s(4), true, WATCH, s(4));
        assertThat(guard.takeBlindTime()).isEqualTo(Map.of(CONTROLLER, s(3), API_SERVER, s(1)));
    }

    @Test
    void acknowledgementsThatEndedDoNotBlameTheWatch() {
        begin();
        guard.acknowledged(s(1), s(1));
        ticks(1, 3);
        guard.tick(s(7) / 2);

        assertThat(guard.tick(s(9) / 2)).contains(new SightChange.Renamed(API_SERVER, 0));
    }

    @Test
    void acknowledgementOfACanaryThatWasSeenDoesNotBlameTheWatch() {
        begin();
        guard.seen(s(1), true, WATCH, s(1));
        guard.acknowledged(s(1), s(1));
        ticks(1, 5);

        assertThat(guard.takeBlindTime()).isEqualTo(Map.of(STORE, s(2), API_SERVER, s(2)));
    }

    @Test
    void acknowledgementSaysSomethingForLessThanTwoPeriodsAndAHalf() {
        begin();
        ticks(1, 1);
        guard.acknowledged(s(1), s(3) / 2);
        ticks(2, 4);

        assertThat(guard.takeBlindTime()).isEqualTo(Map.of(StalledHop.WATCH, s(3), API_SERVER, s(1)));
    }

    @Test
    void canaryAsOldAsTheNewestOneChangesNothing() {
        begin();
        guard.alive(s(2) / 5);
        ticks(1, 3);
        guard.seen(0, true, WATCH, s(3));
        ticks(4, 4);

        assertThat(guard.takeBlindTime()).isEqualTo(Map.of(STORE, s(2), API_SERVER, s(2)));
    }

    @Test
    void secondTickOfAMomentNamesNothing() {
        begin();
        ticks(1, 5);
        guard.alive(s(5));

        assertThat(guard.tick(s(5))).isEmpty();
    }

    @Test
    void meansAreNamedAsInMetricsAndInWords() {
        assertThat(LIST.label()).isEqualTo("list");
        assertThat(RENEWALS.meaning())
                .isEqualTo("a list of the leases showed that at least half of the nodes renew their leases");
    }

    @Test
    void hopIsRenamedOnceWhenAnotherOneExplainsTheBlindness() {
        begin();
        ticks(1, 4);
        assertThat(guard.hop()).isEqualTo(API_SERVER);
        assertThat(guard.tick(s(5))).isEmpty();

        guard.alive(s(6));
        assertThat(guard.tick(s(6))).contains(new SightChange.Renamed(STORE, 0));
        assertThat(guard.hop()).isEqualTo(STORE);
        guard.alive(s(7));
        assertThat(guard.tick(s(7))).isEmpty();
    }

    @Test
    void pauseOfThisProcessIsNamedIfItExplainsMoreThanHalfOfTheTime() {
        begin();
        ticks(1, 4);
        // 3 s of which 2 s are more than a period.
        assertThat(guard.tick(s(7))).contains(new SightChange.Renamed(CONTROLLER, 0));

        // 2 s of which 1 s is: that is half.
        assertThat(guard.tick(s(9))).contains(new SightChange.Renamed(API_SERVER, 0));
    }

    @Test
    void tickThatIsHalfAPeriodLateIsNoPause() {
        begin();
        guard.alive(s(2) / 5);
        guard.tick(s(3) / 2);
        guard.tick(s(3));
        guard.tick(s(9) / 2);

        // Nothing is booked before a canary is a period and a half old.
        assertThat(guard.takeBlindTime()).isEqualTo(Map.of(API_SERVER, s(9) / 2));
    }

    @Test
    void stateIsShownInMilliseconds() {
        begin();
        guard.seen(s(1), true, WATCH, s(1));
        guard.seen(s(6), true, WATCH, s(6));

        assertThat(guard.json(s(8)).toString())
                .isEqualTo(
                        "{\"guard\":true,\"sees\":true,\"canaryAgeMs\":2000,\"toleranceMs\":3000,\"givenBackMs\":5000}");
        ticks(7, 10);
        assertThat(guard.json(s(10)).toString())
                .isEqualTo("{\"guard\":true,\"sees\":false,\"canaryAgeMs\":4000,\"toleranceMs\":3000,"
                        + "\"givenBackMs\":5000,\"hop\":\"api_server\",\"judgement\":\"none\"}");
    }

    private void begin() {
        guard.start(0);
        guard.begin(0);
    }

    private void ticks(int from, int to) {
        for (int second = from; second <= to; second++) {
            guard.tick(s(second));
        }
    }

    private static long s(long seconds) {
        return seconds * 1_000_000_000L;
    }
}
