package io.nodekeeper.controller.flaps;

import static io.nodekeeper.controller.TestCluster.B;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.nodekeeper.api.Condition;
import io.nodekeeper.controller.config.FlapDampingConfig;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class FlapDampingTest {
    private static final long SECOND = 1_000_000_000L;
    private static final FlapDampingConfig CONFIG = FlapDampingConfig.DEFAULT;

    private final FlapDamping damping = new FlapDamping(CONFIG);
    private final FlapReport report = new FlapReport(CONFIG);
    private final FlapDamping.State state = new FlapDamping.State();

    @Test
    @Tag("L81")
    @Tag("W8")
    void plegCycleIsDampedFromItsThirdFallOn() {
        // Ready 180 s, not ready 60 s, and so on.
        assertThat(damping.fell(state, 180 * SECOND)).isFalse();
        assertThat(damping.fell(state, 420 * SECOND)).isFalse();
        assertThat(damping.isDamped(state, 659 * SECOND)).isFalse();

        assertThat(damping.fell(state, 660 * SECOND)).isTrue();

        assertThat(damping.penalty(state, 660 * SECOND)).isCloseTo(2332, within(1.0));
        for (int cycle = 4; cycle <= 100; cycle++) {
            long fall = (240L * cycle - 60) * SECOND;
            assertThat(damping.isDamped(state, fall - SECOND)).isTrue();
            assertThat(damping.fell(state, fall)).as("begins again").isFalse();
        }
        assertThat(state.falls()).isEqualTo(100);
        assertThat(damping.penalty(state, 23_940 * SECOND)).isCloseTo(4130, within(1.0));
    }

    @Test
    @Tag("L81")
    void dampingEndsOnceTheNodeWasCalmForLong() {
        flap(180, 420, 660);

        assertThat(damping.isDamped(state, 1_642 * SECOND)).isTrue();
        assertThat(damping.isDamped(state, 1_643 * SECOND)).isFalse();
        assertThat(damping.reuseAt(state) / SECOND).isEqualTo(1_642);
    }

    @Test
    void oneRestartIsNotFlapping() {
        assertThat(damping.fell(state, 0)).isFalse();

        assertThat(damping.isDamped(state, 1)).isFalse();
        assertThat(damping.penalty(state, 0)).isEqualTo(1_000);
        assertThat(damping.penalty(state, 600 * SECOND)).isEqualTo(500);
        assertThat(damping.penalty(state, 1_800 * SECOND)).isEqualTo(125);
    }

    @Test
    void twoFallsAreNotDampedHoweverCloseTogether() {
        flap(0, 0);

        assertThat(damping.isDamped(state, 0)).isFalse();
        assertThat(damping.fell(state, SECOND)).isTrue();
    }

    @Test
    void threeFallsInAnHourAreNotFlapping() {
        flap(0, 1_800, 3_600);

        assertThat(damping.isDamped(state, 3_600 * SECOND)).isFalse();
    }

    @Test
    void nothingKeepsANodeDampedForMoreThanHalfAnHour() {
        for (int i = 0; i < 1_000; i++) {
            damping.fell(state, i * SECOND);
        }

        assertThat(damping.penalty(state, 999 * SECOND)).isEqualTo(6_000);
        assertThat(damping.isDamped(state, (999 + 1_799) * SECOND)).isTrue();
        assertThat(damping.isDamped(state, (999 + 1_801) * SECOND)).isFalse();
    }

    @Test
    void onlyReadyNodesFall() {
        assertThat(FlapDamping.isFall("True", "False")).isTrue();
        assertThat(FlapDamping.isFall("True", "Unknown")).isTrue();
        assertThat(FlapDamping.isFall("False", "Unknown")).isFalse();
        assertThat(FlapDamping.isFall("False", "True")).isFalse();
        assertThat(FlapDamping.isFall("True", "True")).isFalse();
        assertThat(FlapDamping.isFall("", "False")).isFalse();
    }

    @Test
    void dampedNodeSaysSoUntilItIsCalm() {
        flap(180, 420, 660);

        Condition damped = report.damped(Optional.empty(), state, 670 * SECOND, B.plusSeconds(670));
        Condition again = report.damped(Optional.of(damped), state, 700 * SECOND, B.plusSeconds(700));
        Condition ended = report.ended(Optional.of(again), state, 1_643 * SECOND, B.plusSeconds(1_643));

        assertThat(line(damped))
                .isEqualTo("NodeFlapping True FlapDamped 2015-01-01T12:11:10Z Ready was lost 3 times;"
                        + " flap penalty 2332 at 2015-01-01T12:11:00Z;"
                        + " taints are kept until 2015-01-01T12:27:22Z, longer if it is lost again");
        assertThat(again.json().text("lastTransitionTime")).isEqualTo("2015-01-01T12:11:10Z");
        assertThat(again.message()).isEqualTo(damped.message());
        assertThat(line(ended))
                .isEqualTo("NodeFlapping False FlapEnded 2015-01-01T12:27:23Z"
                        + " Ready was not lost again for 16m23s; taints follow it as usual");
    }

    @Test
    void anotherControllerContinuesTheDamping() {
        flap(180, 420, 660);
        Condition left = report.damped(Optional.empty(), state, 660 * SECOND, B.plusSeconds(660));

        // It starts 100 s later, and its monotonic clock has another origin.
        long start = -5_000 * SECOND;
        FlapDamping.State taken =
                report.restore(left, start, B.plusSeconds(760)).orElseThrow();

        assertThat(taken.falls()).isEqualTo(3);
        assertThat(damping.isDamped(taken, start)).isTrue();
        // A tenth of a second less than before: the message holds whole points.
        assertThat((damping.reuseAt(taken) - start) / SECOND).isEqualTo(1_641 - 760);
        assertThat(damping.fell(taken, start + SECOND)).as("begins again").isFalse();
        assertThat(taken.falls()).isEqualTo(4);
    }

    @Test
    void expiredEndedAndForeignConditionsAreNotRestored() {
        flap(180, 420, 660);
        Instant now = B.plusSeconds(700);
        Condition left = report.damped(Optional.empty(), state, 660 * SECOND, B.plusSeconds(660));
        Condition ended = report.ended(Optional.of(left), state, 700 * SECOND, now);

        assertThat(report.restore(left, 0, now)).isPresent();
        assertThat(report.restore(left, 0, now.plusSeconds(1_800))).as("over").isEmpty();
        assertThat(report.restore(left, 0, Instant.MAX)).as("long over").isEmpty();
        assertThat(report.restore(ended, 0, now)).isEmpty();
        assertThat(report.restore(message(left, "kubelet says so"), 0, now)).isEmpty();
        assertThat(report.restore(
                        message(left, left.message().replace("2015-01-01T12:11:00Z", "--------------------")), 0, now))
                .isEmpty();
    }

    @Test
    void clockThatWasSetBackCannotKeepANodeDampedForLongerThanAllowed() {
        flap(180, 420, 660);
        Condition left = report.damped(Optional.empty(), state, 660 * SECOND, B.plusSeconds(660));
        Condition forged = message(left, left.message().replace("2332", "999999999"));

        FlapDamping.State taken =
                report.restore(forged, 0, B.minusSeconds(86_400)).orElseThrow();

        assertThat(damping.reuseAt(taken) / SECOND).isEqualTo(1_800);
    }

    @Test
    void faultsOfLimitsNameFlagValueAndExpectation() {
        assertThat(CONFIG.faults()).isEmpty();
        assertThat(new FlapDampingConfig(-1, Duration.ZERO, Double.NaN, 0, Duration.ofSeconds(-1)).faults())
                .containsExactly(
                        "--flap-penalty: must be greater than 0, got -1.0",
                        "--flap-suppress: must be greater than 0, got NaN",
                        "--flap-reuse: must be greater than 0, got 0.0",
                        "--flap-half-life: must be greater than 0, got 0s",
                        "--flap-max-suppress: must be greater than 0, got -1s");
        assertThat(new FlapDampingConfig(1000, Duration.ofMinutes(10), 2000, 2000, Duration.ofMinutes(30)).faults())
                .containsExactly("--flap-reuse: must be less than --flap-suppress (2000.0), got 2000.0");
        assertThat(new FlapDampingConfig(1000, Duration.ofMinutes(10), 2000, 750, Duration.ofMinutes(10)).faults())
                .singleElement()
                .asString()
                .startsWith("--flap-max-suppress: must be long enough")
                .endsWith("got 10m0s");
    }

    @Property(tries = 300)
    void penaltyOnlyFallsWhileTheNodeIsCalm(
            @ForAll List<@IntRange(max = 3_000) Integer> gaps,
            @ForAll @IntRange(max = 100_000) int sooner,
            @ForAll @IntRange(max = 100_000) int later) {
        FlapDamping.State any = new FlapDamping.State();
        long now = fall(any, gaps);

        double first = damping.penalty(any, now + sooner * SECOND);
        double second = damping.penalty(any, now + (sooner + (long) later) * SECOND);

        assertThat(first).isBetween(second, 6_000.0);
        assertThat(second).isNotNegative();
    }

    @Property(tries = 300)
    void dampingBeginsAtTheSuppressLimitAndEndsAtTheReuseLimit(@ForAll List<@IntRange(max = 3_000) Integer> gaps) {
        FlapDamping.State any = new FlapDamping.State();
        boolean dampedAtLastFall = false;
        long now = 0;
        for (int gap : gaps) {
            for (long step = 0; step < gap; step += 100) {
                long at = now + step * SECOND;
                assertThat(damping.isDamped(any, at)).isEqualTo(dampedAtLastFall && damping.penalty(any, at) > 750);
            }
            now += gap * SECOND;
            boolean before = damping.isDamped(any, now);
            boolean begins = damping.fell(any, now);
            double penalty = damping.penalty(any, now);
            dampedAtLastFall = before || penalty >= 2_200;

            assertThat(begins).isEqualTo(!before && penalty >= 2_200);
            assertThat(damping.isDamped(any, now)).isEqualTo(dampedAtLastFall);
            assertThat(damping.isDamped(any, now + 1_801 * SECOND)).isFalse();
        }
    }

    private long fall(FlapDamping.State any, List<Integer> gaps) {
        long now = 0;
        for (int gap : gaps) {
            now += gap * SECOND;
            damping.fell(any, now);
        }
        return now;
    }

    private void flap(long... seconds) {
        for (long second : seconds) {
            damping.fell(state, second * SECOND);
        }
    }

    private static Condition message(Condition condition, String message) {
        return new Condition(condition.json().with("message", message));
    }

    private static String line(Condition condition) {
        return condition.type() + " " + condition.status() + " " + condition.reason() + " "
                + condition.json().text("lastTransitionTime") + " " + condition.message();
    }
}
