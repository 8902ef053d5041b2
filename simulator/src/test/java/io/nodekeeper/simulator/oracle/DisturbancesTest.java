package io.nodekeeper.simulator.oracle;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

/** The time that disturbances take away; all times are in seconds. */
class DisturbancesTest {
    private static final long SECOND = 1_000_000_000L;

    private final Disturbances disturbances = new Disturbances(Duration.ofSeconds(5));

    private long within(long from, long to) {
        return disturbances.within(from * SECOND, to * SECOND) / SECOND;
    }

    @Test
    void disturbanceLastsUntilItsRecoveryIsOver() {
        disturbances.begin(10 * SECOND);
        disturbances.end(20 * SECOND);

        assertThat(within(0, 100)).isEqualTo(15);
    }

    @Test
    void momentNeedsARecovery() {
        disturbances.moment(10 * SECOND);

        assertThat(within(0, 100)).isEqualTo(5);
    }

    @Test
    void momentWithinADisturbanceDoesNotEndIt() {
        disturbances.begin(10 * SECOND);
        disturbances.moment(15 * SECOND);

        assertThat(disturbances.isDisturbed(50 * SECOND)).isTrue();
        disturbances.end(60 * SECOND);
        assertThat(within(0, 100)).isEqualTo(55);
    }

    @Test
    void disturbanceThatBeginsInARecoveryCountsOnce() {
        disturbances.moment(10 * SECOND);
        disturbances.begin(12 * SECOND);

        assertThat(within(0, 20)).isEqualTo(10);
        disturbances.end(20 * SECOND);
        assertThat(within(0, 100)).isEqualTo(15);
    }
}
