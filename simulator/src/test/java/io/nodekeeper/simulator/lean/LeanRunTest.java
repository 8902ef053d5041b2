package io.nodekeeper.simulator.lean;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.time.SystemClock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class LeanRunTest {
    @Test
    void oneInAHundredLeanNodesDiesAndEachOfThemIsFoundAndNoOther() {
        List<String> progress = new ArrayList<>();

        LeanReport report = LeanRun.run(new LeanRunOptions(1_000, 5), new SystemClock(), progress::add);

        assertThat(progress)
                .containsExactly("1000 nodes have registered", "the controller has settled", "the verdicts are due");
        assertThat(report.deaths()).isEqualTo(10);
        assertThat(report.missed()).isZero();
        assertThat(report.falseVerdicts()).isZero();
        assertThat(report.max()).isBetween(Duration.ofMillis(1), Duration.ofMillis(110));
        assertThat(report.renewals()).isBetween(5_800L, 6_000L);
        assertThat(report.isGood()).isTrue();
    }
}
