package io.nodekeeper.simulator;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.time.SystemClock;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
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

    @Test
    void aRunThatIsAskedToEndReportsTheTimeUntilThenAndSaysThatItIsPartial() {
        RandomRunOptions options = new RandomRunOptions(2, Duration.ofHours(1), 1, 0, 0);
        AtomicLong seconds = new AtomicLong();

        Report report = RandomRun.run(
                options,
                new SystemClock(),
                line -> {},
                elapsed -> seconds.set(elapsed.toSeconds()),
                () -> seconds.get() >= 90);

        assertThat(report.simulated()).isEqualTo(Duration.ofSeconds(90));
        assertThat(report.text())
                .startsWith("PARTIAL: interrupted after 1m30s of 1h0m0s of virtual time\n"
                        + "2 nodes for 1m30s of virtual time, seed 1: ")
                .endsWith("no rule was broken until then");
        assertThat(report.json().bool("partial")).isTrue();
        assertThat(report.json().toString()).contains("\"simulatedSeconds\":90.000000");
        // and the part is the beginning of the same run
        Report whole = run(new RandomRunOptions(2, Duration.ofSeconds(90), 1, 0, 0));
        assertThat(whole.traceHash()).isEqualTo(report.traceHash());
        assertThat(whole.isPartial()).isFalse();
        assertThat(whole.text()).doesNotContain("PARTIAL");
    }

    private static Report run(RandomRunOptions options) {
        return RandomRun.run(options, new SystemClock(), line -> {}, elapsed -> {}, () -> false);
    }
}
