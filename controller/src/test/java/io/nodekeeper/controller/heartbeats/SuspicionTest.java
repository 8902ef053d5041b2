package io.nodekeeper.controller.heartbeats;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.controller.config.DetectorConfig;
import java.time.Duration;
import java.util.List;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class SuspicionTest {
    private static final long SECOND = 1_000_000_000L;
    private static final Duration GRACE = Duration.ofSeconds(50);

    private final Suspicion suspicion = new Suspicion(DetectorConfig.DEFAULT, GRACE);
    private final Suspicion.State state = new Suspicion.State();
    private long now;

    @Test
    void noWarningBeforeTheUsualGapsOfANodeAreKnown() {
        renewEvery(10, 8);

        assertThat(state.isWarm()).isFalse();
        assertThat(suspicion.patience(state)).isEqualTo(50 * SECOND);
        assertThat(suspicion.adaptiveGrace(state)).isEqualTo(100 * SECOND);

        renewEvery(10, 1);
        assertThat(state.isWarm()).isTrue();
        assertThat(suspicion.patience(state)).isEqualTo(17_500_000_000L);
    }

    @Test
    void regularNodeIsSuspectLongBeforeItsGraceEnds() {
        renewEvery(10, 100);

        assertThat(suspicion.patience(state)).isEqualTo(17_500_000_000L);
        assertThat(suspicion.adaptiveGrace(state)).isEqualTo(45 * SECOND);
    }

    @Test
    void nodeThatLosesRenewalsIsGivenMoreTime() {
        for (int i = 0; i < 30; i++) {
            renewEvery(10, 4);
            renewEvery(20, 1);
        }

        // Mean 12 s, deviation 4 s.
        assertThat(suspicion.patience(state)).isBetween(30 * SECOND, 34 * SECOND);
        assertThat(suspicion.adaptiveGrace(state)).isBetween(60 * SECOND, 68 * SECOND);
    }

    @Test
    @Tag("L79")
    void oneSignOfLifeThatIs41SecondsLateIsSuspectAndNoAdaptiveVerdict() {
        renewEvery(10, 50);

        assertThat(suspicion.patience(state)).isLessThan(41 * SECOND);
        assertThat(suspicion.adaptiveGrace(state)).isGreaterThan(41 * SECOND);

        renewEvery(41, 1);
        assertThat(suspicion.patience(state)).isEqualTo(28 * SECOND);
        renewEvery(10, 200);
        assertThat(suspicion.patience(state)).isBetween(17 * SECOND, 19 * SECOND);
    }

    @Test
    void longerPeriodIsLearnedWithinAFewRenewals() {
        renewEvery(5, 100);

        int suspicions = 0;
        for (int i = 0; i < 50; i++) {
            suspicions += suspicion.patience(state) < 15 * SECOND ? 1 : 0;
            renewEvery(15, 1);
        }

        assertThat(suspicions).isEqualTo(3);
    }

    @Test
    void longestBoundOfTheAdaptiveGraceOverflowsNoDeadline() {
        Duration endless = Duration.ofNanos(Long.MAX_VALUE);
        Suspicion patient = new Suspicion(new DetectorConfig(DetectorConfig.Kind.ADAPTIVE, endless, endless), GRACE);
        assertThat(patient.adaptiveGrace(state)).isEqualTo(Long.MAX_VALUE / 4);

        renewEvery(10, 50);

        assertThat(patient.adaptiveGrace(state)).isEqualTo(Long.MAX_VALUE / 4);
    }

    @Test
    void rebootIsNoUsualGap() {
        renewEvery(10, 50);

        suspicion.interrupted(state);
        renewEvery(300, 1);

        assertThat(suspicion.patience(state)).isEqualTo(17_500_000_000L);
    }

    @Test
    void blindTimeDoesNotCountOnAClockThatStops() {
        renewEvery(10, 50);
        long patience = suspicion.patience(state);

        // 70 s of blindness between two renewals: effective time shows 10 s.
        renewEvery(10, 1);

        assertThat(suspicion.patience(state)).isEqualTo(patience);
    }

    @Test
    void faultsOfBoundsNameFlagValueAndExpectation() {
        DetectorConfig config =
                new DetectorConfig(DetectorConfig.Kind.ADAPTIVE, Duration.ofSeconds(-1), Duration.ofSeconds(-2));

        assertThat(config.faults())
                .containsExactly(
                        "--detector-min: must be greater than 0, got -1s",
                        "--detector-max: must be --detector-min (-1s) or more, got -2s");
        assertThat(DetectorConfig.DEFAULT.faults()).isEmpty();
        assertThat(DetectorConfig.DEFAULT.warnings()).isEmpty();
    }

    @Test
    void shortAdaptiveGraceIsWarnedOf() {
        DetectorConfig config =
                new DetectorConfig(DetectorConfig.Kind.ADAPTIVE, Duration.ofSeconds(20), Duration.ofSeconds(60));

        assertThat(config.faults()).isEmpty();
        assertThat(config.warnings()).singleElement().asString().startsWith("--detector-min=20s is less than the 45s");
    }

    @Property(tries = 100)
    void whateverArrivesTheBoundsHold(@ForAll List<Long> times, @ForAll List<Boolean> interruptions) {
        Suspicion.State any = new Suspicion.State();
        for (int i = 0; i < times.size(); i++) {
            if (i < interruptions.size() && interruptions.get(i)) {
                suspicion.interrupted(any);
            }
            suspicion.heard(any, times.get(i));

            assertThat(any.meanGap()).isFinite().isBetween(0.0, 86_401.0);
            assertThat(suspicion.patience(any)).isBetween(2 * SECOND, 50 * SECOND);
            assertThat(suspicion.adaptiveGrace(any)).isBetween(45 * SECOND, 100 * SECOND);
        }
    }

    @Property(tries = 300)
    void noOrderOfRegularLateAndLostRenewalsBreaksTheBounds(@ForAll List<Short> gapsInHundredths) {
        Suspicion.State any = new Suspicion.State();
        long time = 0;
        for (short gap : gapsInHundredths) {
            time += Math.abs((long) gap) * SECOND / 100;
            suspicion.heard(any, time);

            assertThat(any.meanGap()).isFinite().isBetween(0.0, 328.0);
            assertThat(suspicion.patience(any)).isBetween(2 * SECOND, 50 * SECOND);
        }
    }

    private void renewEvery(long seconds, int times) {
        for (int i = 0; i < times; i++) {
            now += seconds * SECOND;
            suspicion.heard(state, now);
        }
    }
}
