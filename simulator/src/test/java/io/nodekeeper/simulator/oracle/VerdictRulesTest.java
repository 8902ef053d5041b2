package io.nodekeeper.simulator.oracle;

import static io.nodekeeper.simulator.oracle.TestHistory.UNREACHABLE_NO_SCHEDULE;
import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.Test;

/** The rules must distinguish bad histories from good ones; the default grace is 50 s. */
class VerdictRulesTest {
    private final TestHistory history = TestHistory.ofOneController();

    @Test
    void aVerdictWithinTheGraceIsFalse() {
        history.ready("n1").fails("n1").pass(49.9).unknown("n1", UNREACHABLE_NO_SCHEDULE);

        assertThat(history.violations(Rule.FALSE_VERDICT)).isEqualTo(1);
    }

    @Test
    void aVerdictAtTheDeadlineOfADeadNodeIsRight() {
        history.ready("n1")
                .fails("n1")
                .pass(50.05)
                .unknown("n1", UNREACHABLE_NO_SCHEDULE)
                .pass(600);

        assertThat(history.tally.violations()).isZero();
        assertThat(history.tally.verdicts()).isEqualTo(1);
        assertThat(history.tally.silences()).isEqualTo(1);
        assertThat(history.tally.delays()).containsExactly(Duration.ofMillis(50).toNanos());
    }

    @Test
    void aVerdictAgainstANodeThatIsWellIsFalse() {
        history.ready("n1").pass(40).fails("n1").pass(10.05).unknown("n1", UNREACHABLE_NO_SCHEDULE);

        assertThat(history.violations(Rule.FALSE_VERDICT)).isEqualTo(1);
    }

    @Test
    void aVerdictThatCountsTheApiServersOutageAsSilenceIsFalse() {
        history.ready("n1").fails("n1").pass(10).serverOutage(30).pass(15).unknown("n1", UNREACHABLE_NO_SCHEDULE);

        assertThat(history.violations(Rule.FALSE_VERDICT)).isEqualTo(1);
    }

    @Test
    void aVerdictAfterTheGraceAndTheApiServersOutageIsRight() {
        history.ready("n1").fails("n1").pass(10).serverOutage(30).pass(40.1).unknown("n1", UNREACHABLE_NO_SCHEDULE);

        assertThat(history.tally.violations()).isZero();
    }

    @Test
    void shortOutagesAreWithinWhatTheGraceHasToBear() {
        history.ready("n1")
                .fails("n1")
                .pass(10)
                .serverOutage(3)
                .pass(10)
                .serverOutage(3)
                .pass(24.1)
                .unknown("n1");

        assertThat(history.violations(Rule.FALSE_VERDICT)).isZero();
    }

    @Test
    void aNodeOfTheSameNameThatWasJustCreatedIsNotSilent() {
        history.ready("n1").fails("n1").pass(49.9);
        history.deleted("n1").node("n1", "another", "").pass(0.2).node("n1", "another", "Unknown");

        assertThat(history.violations(Rule.FALSE_VERDICT)).isEqualTo(1);
        assertThat(history.tally.recreations()).isEqualTo(1);
    }

    @Test
    void aSilenceThatDoesNotEndInAVerdictIsLate() {
        history.ready("n1").fails("n1").pass(50.2);

        assertThat(history.violations(Rule.LATE_VERDICT)).isEqualTo(1);
    }

    @Test
    void eachSilenceIsJudgedAlsoAfterOneThatWasLate() {
        history.ready("n1")
                .fails("n1")
                .pass(60)
                .comesBack("n1")
                .renew("n1")
                .fails("n1")
                .pass(60);

        assertThat(history.violations(Rule.LATE_VERDICT)).isEqualTo(2);
        assertThat(history.tally.silences()).isEqualTo(2);
    }

    @Test
    void aNodeThatRenewsIsNeverLate() {
        history.ready("n1");
        for (int second = 0; second < 600; second += 10) {
            history.pass(10).renew("n1");
        }

        assertThat(history.tally.violations()).isZero();
        assertThat(history.tally.silences()).isZero();
    }

    @Test
    void aStallDelaysTheVerdictByItselfAndItsRecovery() {
        history.ready("n1").fails("n1").pass(20).controllerStall(30).pass(35);

        assertThat(history.violations(Rule.LATE_VERDICT)).isZero();
        history.pass(0.2);
        assertThat(history.violations(Rule.LATE_VERDICT)).isEqualTo(1);
    }

    @Test
    void stallsThatFollowEachOtherDoNotPostponeTheVerdictForEver() {
        history.ready("n1").fails("n1");
        // Each gives the controller 7.5 s of its 50 s.
        for (int stall = 0; stall < 7; stall++) {
            history.controllerStall(2).pass(12.5);
        }

        assertThat(history.violations(Rule.LATE_VERDICT)).isEqualTo(1);
    }

    @Test
    void overlappingRecoveriesCountOnce() {
        history.ready("n1").fails("n1");
        for (int stall = 0; stall < 10; stall++) {
            history.controllerStall(1).pass(1);
        }
        // 20 s of stalls and pauses, 4 s more of the last recovery, 50.11 s.
        history.pass(54);
        assertThat(history.violations(Rule.LATE_VERDICT)).isZero();
        history.pass(0.2);
        assertThat(history.violations(Rule.LATE_VERDICT)).isEqualTo(1);
    }

    @Test
    void aControllerThatBeginsGivesAWholeGraceOnce() {
        history.ready("n1").fails("n1").pass(40);
        history.oracle.controllerBegan();
        history.pass(55);
        assertThat(history.violations(Rule.LATE_VERDICT)).isZero();

        history.pass(0.2);
        assertThat(history.violations(Rule.LATE_VERDICT)).isEqualTo(1);
    }

    @Test
    void slowerJudgementHasItsOwnBound() {
        history.ready("n1").fails("n1");
        history.oracle.judgementIsSlower(Duration.ofSeconds(30));
        history.pass(80);
        assertThat(history.violations(Rule.LATE_VERDICT)).isZero();

        history.pass(0.2);
        assertThat(history.violations(Rule.LATE_VERDICT)).isEqualTo(1);
    }

    @Test
    void foreignWritesToALeaseAreNoHeartbeats() {
        history.ready("n1").fails("n1");
        String renewed = "2026-01-01T00:16:40.000000Z";
        for (int second = 0; second < 60; second += 5) {
            history.pass(5).touch("n1", renewed);
        }

        assertThat(history.violations(Rule.LATE_VERDICT)).isEqualTo(1);
    }

    @Test
    void aReturnWithinTheSecondOfItsLastHeartbeatIsAHeartbeat() {
        Instant heartbeat = history.time.wallTime();
        history.node("n1", "uid-n1", "True", heartbeat).fails("n1").pass(50.05);
        history.node("n1", "uid-n1", "Unknown", heartbeat, UNREACHABLE_NO_SCHEDULE);
        history.comesBack("n1").node("n1", "uid-n1", "True", heartbeat).pass(49);

        assertThat(history.tally.violations()).isZero();
    }

    @Test
    void aNodeThatIsBackAndNotReadyIsReported() {
        history.ready("n1")
                .fails("n1")
                .pass(50.05)
                .unknown("n1", UNREACHABLE_NO_SCHEDULE)
                .comesBack("n1")
                .pass(11.5);

        assertThat(history.violations(Rule.NOT_RETURNED)).isEqualTo(1);
    }

    @Test
    void aNodeThatIsReadyWithinAStatusPeriodOfItsReturnIsFine() {
        history.ready("n1")
                .fails("n1")
                .pass(50.05)
                .unknown("n1", UNREACHABLE_NO_SCHEDULE)
                .comesBack("n1")
                .pass(11);
        history.ready("n1").pass(30);

        assertThat(history.tally.violations()).isZero();
    }

    @Test
    void aReturnDuringAnOutageOfTheApiServerHasItsTimeAfterIt() {
        history.ready("n1")
                .fails("n1")
                .pass(50.05)
                .unknown("n1", UNREACHABLE_NO_SCHEDULE)
                .comesBack("n1");
        history.serverOutage(60).pass(5 + 11.3).ready("n1");
        assertThat(history.violations(Rule.NOT_RETURNED)).isZero();
    }

    @Test
    void aDeletedNodeWhoseAgentDoesNotRegisterIsReported() {
        history.comesBack("n1").ready("n1").deleted("n1").pass(11.5);

        assertThat(history.violations(Rule.NOT_RETURNED)).isEqualTo(1);
    }
}
