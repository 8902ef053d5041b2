package io.nodekeeper.simulator.oracle;

import static io.nodekeeper.simulator.oracle.TestHistory.NOT_READY_NO_SCHEDULE;
import static io.nodekeeper.simulator.oracle.TestHistory.UNREACHABLE_NO_EXECUTE;
import static io.nodekeeper.simulator.oracle.TestHistory.UNREACHABLE_NO_SCHEDULE;
import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** Histories in which taints do not follow conditions, and NoExecute taints are wrong, too fast or too late. */
class TaintRulesTest {
    private final TestHistory history = TestHistory.ofOneController();

    @Test
    void anUnknownNodeWithoutItsTaintIsReportedAfterASecond() {
        history.ready("n1").fails("n1").pass(50.05).unknown("n1").pass(0.9);
        assertThat(history.violations(Rule.TAINTS_LATE)).isZero();

        history.pass(0.2);
        assertThat(history.violations(Rule.TAINTS_LATE)).isEqualTo(1);
    }

    @Test
    void aReadyNodeThatKeepsItsTaintsIsReported() {
        die("n1");
        history.node("n1", "uid-n1", "True", UNREACHABLE_NO_SCHEDULE).pass(1.1);

        assertThat(history.violations(Rule.TAINTS_LATE)).isEqualTo(1);
    }

    @Test
    void aNoExecuteTaintThatStaysOnAReadyNodeIsReported() {
        die("n1");
        history.unknown("n1", UNREACHABLE_NO_SCHEDULE, UNREACHABLE_NO_EXECUTE).pass(5);
        history.node("n1", "uid-n1", "True", UNREACHABLE_NO_EXECUTE).pass(1.1);

        assertThat(history.violations(Rule.TAINTS_LATE)).isEqualTo(1);
    }

    @Test
    void taintsThatAreRightWithinASecondAreFine() {
        history.ready("n1").fails("n1").pass(50.05).unknown("n1").pass(0.9).unknown("n1", UNREACHABLE_NO_SCHEDULE);
        history.pass(5).node("n1", "uid-n1", "False", NOT_READY_NO_SCHEDULE).pass(5);
        history.node("n1", "uid-n1", "True", NOT_READY_NO_SCHEDULE)
                .pass(0.9)
                .node("n1", "uid-n1", "True")
                .pass(5);

        assertThat(history.tally.violations()).isZero();
    }

    @Test
    void aStalledControllerHasItsSecondAfterItsRecovery() {
        history.ready("n1")
                .fails("n1")
                .pass(50.05)
                .unknown("n1")
                .controllerStall(60)
                .pass(5.9);

        assertThat(history.violations(Rule.TAINTS_LATE)).isZero();
        history.pass(0.2);
        assertThat(history.violations(Rule.TAINTS_LATE)).isEqualTo(1);
    }

    @Test
    void aNodeThatFellThreeTimesMayKeepItsTaintsUntilItsDampingHasToEnd() {
        flap("n1", 3);
        // 2,900 points or so decay to 750 in 20 min at a half-life of 10 min, from the third loss of Ready on.
        history.pass(18 * 60);
        assertThat(history.violations(Rule.TAINTS_LATE)).isZero();

        history.pass(3 * 60);
        assertThat(history.violations(Rule.TAINTS_LATE)).isGreaterThanOrEqualTo(1);
    }

    @Test
    void aNodeThatFellTwiceMayNot() {
        flap("n1", 2);

        assertThat(history.violations(Rule.TAINTS_LATE)).isEqualTo(1);
    }

    @Test
    void aReadyNodeThatGetsANoExecuteTaintIsReported() {
        history.ready("n1").pass(5).node("n1", "uid-n1", "True", UNREACHABLE_NO_EXECUTE);

        assertThat(history.violations(Rule.NO_EXECUTE_WRONG)).isEqualTo(1);
    }

    @Test
    void aNodeThatIsNotReadyMayHaveIt() {
        die("n1");
        history.unknown("n1", UNREACHABLE_NO_SCHEDULE, UNREACHABLE_NO_EXECUTE).pass(60);

        assertThat(history.tally.violations()).isZero();
        assertThat(history.tally.noExecutes()).isEqualTo(1);
    }

    @Test
    void taintsFasterThanTheZonesRateAreReported() {
        crowd();
        for (String node : new String[] {"n1", "n2", "n3"}) {
            history.unknown(node, UNREACHABLE_NO_SCHEDULE, UNREACHABLE_NO_EXECUTE)
                    .pass(1);
        }

        assertThat(history.violations(Rule.NO_EXECUTE_FAST)).isGreaterThanOrEqualTo(1);
    }

    @Test
    void taintsAtTheZonesRateAreFine() {
        crowd();
        for (String node : new String[] {"n1", "n2", "n3"}) {
            history.unknown(node, UNREACHABLE_NO_SCHEDULE, UNREACHABLE_NO_EXECUTE)
                    .pass(10);
        }

        assertThat(history.violations(Rule.NO_EXECUTE_FAST)).isZero();
        assertThat(history.violations(Rule.NO_EXECUTE_LATE)).isZero();
    }

    @Test
    void aTaintAdmittedDuringAStallMayBeWrittenAfterIt() {
        crowd();
        history.controllerStall(30);
        for (String node : new String[] {"n1", "n2", "n3"}) {
            history.unknown(node, UNREACHABLE_NO_SCHEDULE, UNREACHABLE_NO_EXECUTE)
                    .pass(0.1);
        }

        assertThat(history.violations(Rule.NO_EXECUTE_FAST)).isZero();
    }

    @Test
    void aNodeThatWaitsForItsTaintBeyondItsTurnIsReported() {
        crowd();
        history.pass(11);
        assertThat(history.violations(Rule.NO_EXECUTE_LATE)).isZero();

        history.pass(2);
        assertThat(history.violations(Rule.NO_EXECUTE_LATE)).isEqualTo(1);
    }

    @Test
    void aTaintDuringADisruptionIsReported() {
        disrupt();
        history.pass(60).unknown("n1", UNREACHABLE_NO_SCHEDULE, UNREACHABLE_NO_EXECUTE);

        assertThat(history.violations(Rule.NO_EXECUTE_FAST)).isEqualTo(1);
    }

    @Test
    void aTaintThatWasAdmittedBeforeADisruptionMayBeWrittenAfterItsBeginning() {
        disrupt();
        history.pass(1.9).unknown("n1", UNREACHABLE_NO_SCHEDULE, UNREACHABLE_NO_EXECUTE);

        assertThat(history.tally.violations()).isZero();
    }

    @Test
    void aTaintAfterADisruptionIsFine() {
        disrupt();
        history.crowd(3).pass(60).unknown("n1", UNREACHABLE_NO_SCHEDULE, UNREACHABLE_NO_EXECUTE);

        assertThat(history.violations(Rule.NO_EXECUTE_FAST)).isZero();
    }

    @Test
    void noNodeWaitsWhileAllNodesAreDown() {
        history.ready("n1")
                .fails("n1")
                .pass(50.05)
                .unknown("n1", UNREACHABLE_NO_SCHEDULE)
                .pass(600);

        assertThat(history.violations(Rule.NO_EXECUTE_LATE)).isZero();
    }

    private void die(String name) {
        history.crowd(3);
        history.ready(name).fails(name).pass(50.05).unknown(name, UNREACHABLE_NO_SCHEDULE);
        history.unknown(name, UNREACHABLE_NO_SCHEDULE);
    }

    /** All of three nodes become Unknown. */
    private void disrupt() {
        for (String node : new String[] {"n1", "n2", "n3"}) {
            history.ready(node).fails(node);
        }
        history.pass(50.05);
        for (String node : new String[] {"n1", "n2", "n3"}) {
            history.unknown(node, UNREACHABLE_NO_SCHEDULE);
        }
    }

    /** Three nodes become Unknown among twenty. */
    private void crowd() {
        history.crowd(20);
        for (String node : new String[] {"n1", "n2", "n3"}) {
            history.ready(node).fails(node);
        }
        history.pass(50.05);
        for (String node : new String[] {"n1", "n2", "n3"}) {
            history.unknown(node, UNREACHABLE_NO_SCHEDULE);
        }
    }

    /** The node loses Ready that often, a minute apart, and then keeps its taint while it is Ready. */
    private void flap(String name, int falls) {
        history.ready(name);
        for (int fall = 1; fall <= falls; fall++) {
            history.node(name, "uid-" + name, "False", NOT_READY_NO_SCHEDULE).pass(30);
            if (fall < falls) {
                history.node(name, "uid-" + name, "True").pass(30);
            }
        }
        history.node(name, "uid-" + name, "True", NOT_READY_NO_SCHEDULE).pass(1.5);
    }
}
