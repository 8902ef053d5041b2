package io.nodekeeper.simulator.oracle;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.simulator.RandomRunOptions;
import io.nodekeeper.simulator.Report;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A run in which verdicts were due and none came proves nothing, even if no rule was broken. */
class UnjudgedRunTest {
    private final TestHistory history = TestHistory.ofOneController();

    @Test
    void isNotGoodIfANodeWasSilentForLongerThanItsGrace() {
        // Given controllers that crash before the grace that each of them gives is over.
        history.ready("n1").fails("n1");
        for (int life = 0; life < 4; life++) {
            history.pass(40).oracle.controllerBegan();
        }

        Report report = report();

        assertThat(history.tally.violations()).isZero();
        assertThat(report.isGood()).isFalse();
        assertThat(report.text()).endsWith("1 times a node was silent for longer than its grace, and no verdict came");
        assertThat(report.json().bool("good")).isFalse();
        assertThat(report.json().number("silences")).contains(1L);
    }

    @Test
    void isGoodIfItsVerdictCame() {
        history.ready("n1").fails("n1").pass(50.05).unknown("n1", TestHistory.UNREACHABLE_NO_SCHEDULE);

        assertThat(report().isGood()).isTrue();
        assertThat(report().text()).endsWith("every invariant held");
    }

    @Test
    void isNotGoodIfARuleWasBroken() {
        history.ready("n1").fails("n1").pass(40).unknown("n1", TestHistory.UNREACHABLE_NO_SCHEDULE);

        assertThat(report().isGood()).isFalse();
        assertThat(report().text()).contains("1            verdicts against nodes that were not silent");
        assertThat(report().json().number("false")).contains(1L);
    }

    private Report report() {
        return new Report(
                new RandomRunOptions(1, Duration.ofMinutes(3), 1, 60, 0),
                Duration.ofMinutes(3),
                Duration.ofSeconds(1),
                1,
                1,
                history.tally,
                List.of(),
                Duration.ZERO,
                Duration.ZERO,
                Duration.ZERO,
                1,
                "hash");
    }
}
