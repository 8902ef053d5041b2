package io.nodekeeper.simulator;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.time.SystemClock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class RandomRunTest {
    @Test
    @Tag("L6")
    @Tag("L8")
    @Tag("long")
    void aThousandNodesGetEveryVerdictOnTimeAndTheSameTraceTwice() {
        RandomRunOptions options = new RandomRunOptions(1_000, Duration.ofMinutes(10), 7, 600, 0);
        List<String> violations = new ArrayList<>();

        Report first = run(options, violations);
        Report second = run(options, violations);

        assertThat(violations).isEmpty();
        assertThat(first.isGood()).isTrue();
        assertThat(first.outages()).isGreaterThan(50);
        assertThat(first.tally().verdicts()).isGreaterThan(10);
        assertThat(first.max()).isLessThan(Duration.ofMillis(100));
        assertThat(second.traceHash()).isEqualTo(first.traceHash());
        assertThat(second.tasks()).isEqualTo(first.tasks());
    }

    @Test
    @Tag("L27")
    @Tag("W1")
    @Tag("W12")
    void aControlPlaneThatFailsAtRandomCausesNoFalseVerdictAndStillFindsDeadNodes() {
        List<String> violations = new ArrayList<>();

        Report report = run(new RandomRunOptions(20, Duration.ofHours(1), 3, 200, 60, 20, 2), violations);

        assertThat(violations).isEmpty();
        assertThat(report.tally().verdicts()).isGreaterThan(30);
        assertThat(report.isGood()).isTrue();
    }

    @Test
    void anotherSeedGivesAnotherTrace() {
        List<String> violations = new ArrayList<>();

        Report one = run(new RandomRunOptions(20, Duration.ofMinutes(5), 1, 120, 0), violations);
        Report other = run(new RandomRunOptions(20, Duration.ofMinutes(5), 2, 120, 0), violations);

        assertThat(violations).isEmpty();
        assertThat(other.traceHash()).isNotEqualTo(one.traceHash());
    }

    private static Report run(RandomRunOptions options, List<String> violations) {
        return RandomRun.run(
                options,
                new SystemClock(),
                line -> {
                    if (line.contains("VIOLATION")) {
                        violations.add(line);
                    }
                },
                elapsed -> {},
                () -> false);
    }
}
