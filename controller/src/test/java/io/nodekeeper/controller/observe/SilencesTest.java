package io.nodekeeper.controller.observe;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** The silence around a verdict: before it, as far as known, and after it until the next heartbeat. */
class SilencesTest {
    private final Silences silences = new Silences();

    private static Change verdict(String episode) {
        return new Change("node", "n1", "uid-1", "n1", episode, "Ready=Unknown");
    }

    @Test
    void firstHeartbeatAfterAVerdictEndsTheSilence() {
        silences.verdict(verdict("a"), Optional.of(Duration.ofNanos(40)), 100);
        silences.heard("n1", 107);
        silences.heard("n1", 109);
        // The other controller's verdict about the same outage.
        silences.verdict(verdict("a"), Optional.of(Duration.ofNanos(48)), 108);

        assertThat(silences.take(verdict("a")))
                .isEqualTo(new Silences.Silence(Optional.of(Duration.ofNanos(40)), Optional.of(Duration.ofNanos(7))));
        assertThat(silences.size()).isZero();
    }

    @Test
    void aNodeThatWasNotHeardAgainStayedSilent() {
        silences.verdict(verdict("a"), Optional.empty(), 100);
        silences.heard("n2", 107);

        assertThat(silences.take(verdict("a"))).isEqualTo(new Silences.Silence(Optional.empty(), Optional.empty()));
        assertThat(silences.take(verdict("b"))).isEqualTo(new Silences.Silence(Optional.empty(), Optional.empty()));
    }

    @Test
    void noMoreThan50000VerdictsAreKept() {
        for (int i = 0; i < 50_010; i++) {
            silences.verdict(verdict("outage " + i), Optional.empty(), i);
        }

        assertThat(silences.size()).isEqualTo(50_000);
    }
}
