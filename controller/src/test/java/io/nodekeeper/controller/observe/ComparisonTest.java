package io.nodekeeper.controller.observe;

import static io.nodekeeper.controller.observe.Comparison.Side.OURS;
import static io.nodekeeper.controller.observe.Comparison.Side.THEIRS;
import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.Test;

/** The limit of changes that wait for the other side, and the outcome of those beyond it. The window is 10 minutes. */
class ComparisonTest {
    private static final Instant NOON = Instant.parse("2020-01-01T12:00:00Z");

    private final Comparison comparison = new Comparison(Duration.ofMinutes(10));

    @Test
    void noMoreThan50000ChangesWaitHoweverManyComeWithinTheWindow() {
        for (int i = 0; i < 60_000; i++) {
            comparison.made(OURS, change(i), NOON, i);
        }

        assertThat(comparison.waiting()).isEqualTo(50_000);
        assertThat(comparison.count("dropped")).isEqualTo(10_000);
        assertThat(comparison.expired(Duration.ofMinutes(10).toNanos() + 60_000))
                .hasSize(50_000);
        assertThat(comparison.count("oursAlone")).isEqualTo(50_000);
    }

    @Test
    void oldestChangeIsDroppedFirst() {
        for (int i = 0; i <= 50_000; i++) {
            comparison.made(OURS, change(i), NOON, i);
        }

        assertThat(comparison.isOursAlone(change(0))).isFalse();
        assertThat(comparison.isOursAlone(change(1))).isTrue();
        assertThat(comparison.made(THEIRS, change(1), NOON, 50_001)).isPresent();
        assertThat(comparison.count("both")).isEqualTo(1);
    }

    @Test
    void repeatedChangeTakesNoPlaceOfItsOwn() {
        for (int i = 0; i < 50_000; i++) {
            comparison.made(THEIRS, change(i), NOON, i);
        }

        comparison.made(THEIRS, change(7), NOON, 50_000);

        assertThat(comparison.waiting()).isEqualTo(50_000);
        assertThat(comparison.count("dropped")).isZero();
    }

    private static Change change(int number) {
        return new Change("node", "n" + number, "uid" + number, "n" + number, "", "Ready=Unknown");
    }
}
