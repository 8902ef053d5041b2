package io.nodekeeper.time.progress;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.Optional;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.DoubleRange;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.LongRange;
import net.jqwik.api.constraints.StringLength;

class ProgressLineTest {
    private static final long YEAR = 365L * 86_400 * 1_000;

    @Property(tries = 200)
    void aLineFitsItsWidthIsPrintableAndDependsOnItsArgumentsAlone(
            @ForAll @StringLength(max = 60) String step,
            @ForAll @StringLength(max = 120) String figures,
            @ForAll @DoubleRange(max = 1e12) double done,
            @ForAll @DoubleRange(max = 1e12) double total,
            @ForAll @LongRange(max = YEAR) long elapsedMillis,
            @ForAll @LongRange(min = -1, max = YEAR) long leftMillis,
            @ForAll @IntRange(max = 250) int width) {
        Progress progress = new Progress(step, figures, done, total);
        Duration elapsed = Duration.ofMillis(elapsedMillis);
        Optional<Duration> left = leftMillis < 0 ? Optional.empty() : Optional.of(Duration.ofMillis(leftMillis));

        String line = ProgressLine.of("task", progress, elapsed, left, width);

        assertThat(line).hasSizeLessThanOrEqualTo(width).matches("[\\x20-\\x7e]*");
        assertThat(ProgressLine.of("task", progress, elapsed, left, width)).isEqualTo(line);
        assertThat(ProgressLine.of("task", new Progress("", "figures", done, 0), elapsed, left, width))
                .as("no percentage and no estimate without a known end")
                .doesNotContain("%", "left");
    }

    @Property(tries = 200)
    void anEstimateIsNeverNegative(
            @ForAll @LongRange(max = YEAR) long millis,
            @ForAll @DoubleRange(max = 1e12) double before,
            @ForAll @DoubleRange(max = 1e12) double after,
            @ForAll @DoubleRange(max = 1e12) double total) {
        Pace pace = new Pace(0);
        pace.left(Progress.of("", before, total), 0);

        Optional<Duration> left = pace.left(
                Progress.of("", after, total), Duration.ofMillis(millis).toNanos());

        assertThat(left.filter(Duration::isNegative)).isEmpty();
        assertThat(total == 0 && left.isPresent()).isFalse();
    }
}
