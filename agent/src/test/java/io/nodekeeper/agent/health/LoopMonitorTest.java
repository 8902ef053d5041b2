package io.nodekeeper.agent.health;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.time.VirtualTime;
import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** How long a loop of the agent may be silent, in virtual time. */
class LoopMonitorTest {
    private final VirtualTime time = new VirtualTime(Instant.parse("2026-01-01T00:00:00Z"));
    private final LoopMonitor monitor = new LoopMonitor(time.loop("agent").clock());

    @Test
    @Tag("A87")
    void shouldFailAfterFiveMinutesOfSilenceUntilTheLoopGoesOn() {
        LoopMonitor.Beat beat = monitor.loop("syncloop", Duration.ofSeconds(10));
        beat.beat();

        time.advance(Duration.ofSeconds(299));
        assertThat(monitor.failure("syncloop")).isEmpty();

        time.advance(Duration.ofSeconds(2));
        assertThat(monitor.failure("syncloop"))
                .contains("sync Loop took longer than expected: silent for 5m1s, expected an iteration within 5m0s");

        beat.beat();
        assertThat(monitor.failure("syncloop")).isEmpty();
    }

    @Test
    @Tag("A87")
    void shouldLeaveALoopTwiceItsPeriodIfThatIsLonger() {
        monitor.loop("syncloop", Duration.ofMinutes(4)).beat();

        time.advance(Duration.ofSeconds(479));
        assertThat(monitor.failure("syncloop")).isEmpty();

        time.advance(Duration.ofSeconds(2));
        assertThat(monitor.failure("syncloop"))
                .contains("sync Loop took longer than expected: silent for 8m1s, expected an iteration within 8m0s");
    }

    @Test
    @Tag("A87")
    void shouldFailIfALoopHasNotStartedWithinAMinute() {
        LoopMonitor.Beat beat = monitor.loop("syncloop", Duration.ofSeconds(10));

        time.advance(Duration.ofSeconds(59));
        assertThat(monitor.failure("syncloop")).isEmpty();

        time.advance(Duration.ofSeconds(2));
        assertThat(monitor.failure("syncloop")).contains("has not started within 1m0s");

        beat.beat();
        assertThat(monitor.failure("syncloop")).isEmpty();
    }

    @Test
    void shouldFindNothingWrongWithALoopThatIsNotThere() {
        assertThat(monitor.failure("pleg")).isEmpty();
    }
}
