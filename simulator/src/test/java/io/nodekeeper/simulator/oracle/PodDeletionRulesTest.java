package io.nodekeeper.simulator.oracle;

import static io.nodekeeper.simulator.oracle.TestHistory.UNREACHABLE_NO_EXECUTE;
import static io.nodekeeper.simulator.oracle.TestHistory.UNREACHABLE_NO_SCHEDULE;
import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Histories in which pods are deleted too early, too late or for no reason. */
class PodDeletionRulesTest {
    private final TestHistory history = TestHistory.ofOneController();

    @Test
    void aPodThatIsEvictedBeforeItsTolerationEndsIsReported() {
        history.pod("p", "n1", 30);
        taint();

        history.pass(29.9).podDeleted("p", "n1");

        assertThat(history.violations(Rule.EVICTED_EARLY)).isEqualTo(1);
    }

    @Test
    void wholeSecondsInTimeAddedDoNotMakeAnEvictionRightThatIsEarlyByLess() {
        history.pass(0.9).pod("p", "n1", 30);
        taint();

        history.pass(29.2).podDeleted("p", "n1");

        assertThat(history.violations(Rule.EVICTED_EARLY)).isEqualTo(1);
    }

    @Test
    void aPodThatIsEvictedWhenItsTolerationEndsIsFine() {
        history.pod("p", "n1", 30);
        taint();

        history.pass(30.01).podDeleted("p", "n1").pass(60);

        assertThat(history.tally.violations()).isZero();
        assertThat(history.tally.evictions()).isEqualTo(1);
    }

    @Test
    void aPodThatIsNotEvictedInTimeIsReported() {
        history.pod("p", "n1", 30);
        taint();

        history.pass(31.9);
        assertThat(history.violations(Rule.EVICTED_LATE)).isZero();
        history.pass(0.2);
        assertThat(history.violations(Rule.EVICTED_LATE)).isEqualTo(1);
    }

    @Test
    void aStalledControllerHasItsTimeForEvictionsAfterItsRecovery() {
        history.pod("p", "n1", 30);
        taint();

        history.pass(20).controllerStall(60).pass(6.9);

        assertThat(history.violations(Rule.EVICTED_LATE)).isZero();
        history.pass(0.2);
        assertThat(history.violations(Rule.EVICTED_LATE)).isEqualTo(1);
    }

    @Test
    void aPodOfANodeThatIsBackMayNotBeEvicted() {
        history.pod("p", "n1", 30);
        taint();

        history.pass(10).node("n1", "uid-n1", "True").pass(25).podDeleted("p", "n1");

        assertThat(history.violations(Rule.EVICTED_WRONGLY)).isEqualTo(1);
        assertThat(history.violations(Rule.EVICTED_LATE)).isZero();
    }

    @Test
    void anEvictionThatWasUnderWayWhenTheNodeCameBackIsExcused() {
        history.pod("p", "n1", 30);
        taint();

        history.pass(29.99).node("n1", "uid-n1", "True").pass(0.02).podDeleted("p", "n1");

        assertThat(history.tally.violations()).isZero();
    }

    @Test
    void aPodThatIsDeletedFromANodeThatNeverFailedIsReported() {
        history.ready("n1").pod("p", "n1", 30).pass(5).podDeleted("p", "n1");

        assertThat(history.violations(Rule.EVICTED_WRONGLY)).isEqualTo(1);
    }

    @Test
    void anEvictionByATaintThatAWrongClockDatedIsNoViolation() {
        history.pod("p", "n1", 30);
        history.oracle.controllerClocksAre(false);
        taint();
        history.pass(5);
        history.oracle.controllerClocksAre(true);
        history.pass(5).podDeleted("p", "n1");

        assertThat(history.violations(Rule.EVICTED_EARLY)).isZero();
    }

    @Test
    void aPodOfADeletedNodeMayNotBeCollectedWithinTheQuarantine() {
        history.ready("n1")
                .fails("n1")
                .pod("p", "n1", 30)
                .deleted("n1")
                .pass(39)
                .podDeleted("p", "n1");

        assertThat(history.violations(Rule.COLLECTED_EARLY)).isEqualTo(1);
    }

    @Test
    void aPodOfADeletedNodeIsCollectedAfterTheQuarantine() {
        history.ready("n1")
                .fails("n1")
                .pod("p", "n1", 30)
                .deleted("n1")
                .pass(50)
                .podDeleted("p", "n1")
                .pass(60);

        assertThat(history.tally.violations()).isZero();
        assertThat(history.tally.collections()).isEqualTo(1);
    }

    @Test
    void aPodOfADeletedNodeThatIsNotCollectedIsReported() {
        history.ready("n1").fails("n1").pod("p", "n1", 30).deleted("n1").pass(64);
        assertThat(history.violations(Rule.COLLECTED_LATE)).isZero();

        history.pass(2);
        assertThat(history.violations(Rule.COLLECTED_LATE)).isEqualTo(1);
    }

    @Test
    void aPodOfANodeThatCameBackUnderItsNameMayNotBeCollected() {
        history.ready("n1").fails("n1").pod("p", "n1", 30).deleted("n1").pass(50);
        history.node("n1", "another", "True").pass(5).podDeleted("p", "n1");

        assertThat(history.violations(Rule.EVICTED_WRONGLY)).isEqualTo(1);
    }

    @Test
    @Tag("L77")
    void aWriteOfACandidateThatDoesNotHoldTheLockIsReported() {
        history.lock("b").writes("a");

        assertThat(history.violations(Rule.SECOND_LEADER)).isEqualTo(1);
    }

    @Test
    @Tag("L77")
    void theHolderOfTheLockMayWrite() {
        history.lock("a").writes("a").lock("b").writes("b");

        assertThat(history.tally.violations()).isZero();
    }

    /** The node, one of several, dies and gets both taints. */
    private void taint() {
        history.crowd(3).ready("n1").fails("n1").pass(50.05);
        history.unknown("n1", UNREACHABLE_NO_SCHEDULE, UNREACHABLE_NO_EXECUTE);
    }
}
