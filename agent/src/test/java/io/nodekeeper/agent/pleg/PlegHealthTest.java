package io.nodekeeper.agent.pleg;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class PlegHealthTest {
    private static final long SECOND = 1_000_000_000L;
    private static final String AGAIN = "pleg is active again, but not for 30s yet";

    private final PlegHealth health = new PlegHealth(PlegConfig.PARALLEL);

    @Test
    void beforeTheFirstListItIsUnhealthyAndAfterItHealthyAtOnce() {
        PlegHealth.Facts never = new PlegHealth.Facts(Optional.empty(), 0, 0);

        assertThat(health.check(never, 0)).contains("pleg has yet to be successful");
        assertThat(health.check(age(Duration.ZERO), SECOND)).isEmpty();
    }

    @Test
    @Tag("A77")
    void listIsTooOldBeyondThreeMinutes() {
        assertThat(health.check(age(Duration.ofMinutes(3)), 0)).isEmpty();
        assertThat(health.check(age(Duration.ofMinutes(3).plusNanos(1)), 1))
                .contains("pleg was last seen active 3m0.000000001s ago; threshold is 3m0s");
    }

    @Test
    @Tag("A77")
    void referenceIsHealthyAgainAtOnce() {
        PlegHealth reference = new PlegHealth(PlegConfig.REFERENCE);

        assertThat(reference.check(age(Duration.ofMillis(184_613)), 0))
                .contains("pleg was last seen active 3m4.613s ago; threshold is 3m0s");
        assertThat(reference.check(age(Duration.ZERO), 1)).isEmpty();
    }

    @Test
    @Tag("I-5")
    void afterAFallItMustBeHealthyForHalfAMinuteWithoutABreak() {
        assertThat(health.check(age(Duration.ofMinutes(4)), 0)).isPresent();

        assertThat(health.check(age(Duration.ZERO), 10 * SECOND)).contains(AGAIN);
        assertThat(health.check(age(Duration.ZERO), 39 * SECOND)).contains(AGAIN);
        // A relapse between two checks.
        health.note(stuck(6, 10), 39 * SECOND);
        health.note(age(Duration.ZERO), 39 * SECOND + 1);
        assertThat(health.check(age(Duration.ZERO), 40 * SECOND)).contains(AGAIN);
        assertThat(health.check(age(Duration.ZERO), 69 * SECOND)).contains(AGAIN);
        assertThat(health.check(age(Duration.ZERO), 69 * SECOND + 1)).isEmpty();
        assertThat(health.check(age(Duration.ZERO), 70 * SECOND)).isEmpty();
    }

    @Test
    void onlyMostPodsAndNotAFewMakeItUnhealthy() {
        assertThat(health.check(stuck(1, 1), 0)).isEmpty();
        assertThat(health.check(stuck(4, 4), 0)).isEmpty();
        assertThat(health.check(stuck(10, 100), 0)).isEmpty();
        assertThat(health.check(stuck(5, 10), 0)).isEmpty();

        assertThat(health.check(stuck(6, 10), 0)).contains("6 of 10 pods did not answer within 10s");
    }

    @Test
    void whatWasNotReportedNeedsNoRecovery() {
        health.note(stuck(6, 10), 0);

        assertThat(health.check(age(Duration.ZERO), 1)).isEmpty();
    }

    private static PlegHealth.Facts age(Duration age) {
        return new PlegHealth.Facts(Optional.of(age), 0, 100);
    }

    private static PlegHealth.Facts stuck(int stuck, int pods) {
        return new PlegHealth.Facts(Optional.of(Duration.ZERO), stuck, pods);
    }
}
