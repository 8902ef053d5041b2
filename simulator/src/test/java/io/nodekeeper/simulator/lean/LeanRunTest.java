package io.nodekeeper.simulator.lean;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.time.SystemClock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

class LeanRunTest {
    @Test
    void oneInAHundredLeanNodesDiesAndEachOfThemIsFoundAndNoOther() {
        List<LeanProgress> progress = new ArrayList<>();

        LeanReport report = LeanRun.run(new LeanRunOptions(1_000, 5), new SystemClock(), progress::add, () -> false);

        assertThat(progress.stream().filter(seen -> seen.simulated().equals(seen.duration())))
                .containsExactly(
                        new LeanProgress(LeanPhase.REGISTRATION, Duration.ofSeconds(11), Duration.ofSeconds(11)),
                        new LeanProgress(LeanPhase.CALM, Duration.ofSeconds(30), Duration.ofSeconds(30)),
                        new LeanProgress(LeanPhase.VERDICTS, Duration.ofSeconds(60), Duration.ofSeconds(60)));
        assertThat(report.partial()).isFalse();
        assertThat(report.deaths()).isEqualTo(10);
        assertThat(report.missed()).isZero();
        assertThat(report.falseVerdicts()).isZero();
        assertThat(report.max()).isBetween(Duration.ofMillis(1), Duration.ofMillis(110));
        assertThat(report.renewals()).isBetween(5_800L, 6_000L);
        assertThat(report.isGood()).isTrue();
    }

    @Test
    void aRunThatIsAskedToEndBeforeTheVerdictsAreDueMissesNone() {
        AtomicReference<LeanPhase> phase = new AtomicReference<>(LeanPhase.REGISTRATION);

        LeanReport report = LeanRun.run(
                new LeanRunOptions(200, 5),
                new SystemClock(),
                progress -> phase.set(progress.phase()),
                () -> phase.get() == LeanPhase.VERDICTS);

        assertThat(report.partial()).isTrue();
        assertThat(report.deaths()).isEqualTo(2);
        assertThat(report.missed()).isZero();
        assertThat(report.text())
                .startsWith("PARTIAL: interrupted after 41.1s of virtual time\n200 lean nodes for ")
                .endsWith("no verdict was wrong until then");
        assertThat(report.json().bool("partial")).isTrue();
    }
}
