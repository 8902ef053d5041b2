package io.nodekeeper.simulator;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.time.SystemClock;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** A run reports which verdicts were due, and passes only if it tested them. */
class ReportTest {
    @Test
    void aRunInWhichNoNodeFailsSaysThatNoVerdictWasDue() {
        Report report = run(new RandomRunOptions(2, Duration.ofMinutes(3), 1, 0, 0));

        assertThat(report.isGood()).isTrue();
        assertThat(report.text())
                .endsWith("no rule was broken; no node was silent for its grace, so no verdict was due");
    }

    private static Report run(RandomRunOptions options) {
        return RandomRun.run(options, new SystemClock(), line -> {}, elapsed -> {});
    }
}
