package io.nodekeeper.agent.stats.cgroups;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Optional;
import java.util.OptionalLong;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.DoubleRange;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.LongRange;
import net.jqwik.api.constraints.Scale;

/** Texts of the kernel that are whole, cut off, or anything else. */
class KernelTextPropertiesTest {
    private static final String STALLS = """
            some avg10=12.34 avg60=5.00 avg300=100.00 total=858267323
            full avg10=0.00 avg60=0.40 avg300=1.02 total=18767560
            """;

    @Property
    void whatTheKernelWritesAboutStallsIsReadExactly(
            @ForAll @DoubleRange(max = 100) @Scale(2) double ten,
            @ForAll @DoubleRange(max = 100) @Scale(2) double sixty,
            @ForAll @LongRange(max = 999_999_999_999_999_999L) long total) {
        String text = "some avg10=%.2f avg60=%.2f avg300=0.00 total=%d\n"
                .formatted(ten, sixty, total)
                .replace(',', '.');

        assertThat(StallTimes.parse(text))
                .contains(new StallTimes(new StallTimes.Share(ten, sixty, 0, total), Optional.empty()));
    }

    @Property
    void textThatIsCutOffHasNoShareThatIsHalfRead(@ForAll @IntRange(max = 118) int length) {
        Optional<StallTimes> whole = StallTimes.parse(STALLS);
        Optional<StallTimes> cut = StallTimes.parse(STALLS.substring(0, Math.min(length, STALLS.length())));

        cut.ifPresent(times -> {
            // A number that loses its last digits is another number; everything before it is the same.
            assertThat(times.some().avg300()).isEqualTo(100.0);
            assertThat(whole.orElseThrow().some().totalMicros())
                    .isGreaterThanOrEqualTo(times.some().totalMicros());
        });
    }

    @Property(tries = 2_000)
    void anyTextIsReadWithoutAnError(@ForAll String text) {
        StallTimes.parse(text);
        CgroupPaths.parse(text);
        KernelNumbers.number(text);
        assertThat(KernelNumbers.fields(text).size())
                .isLessThanOrEqualTo((int) text.lines().count());
    }

    @Property
    void numbersOfTheKernelAreReadExactly(@ForAll @LongRange(max = 999_999_999_999_999_999L) long number) {
        assertThat(KernelNumbers.number(number + "\n")).hasValue(number);
        assertThat(KernelNumbers.fields("MemTotal:       " + number + " kB\nanon " + number + "\n"))
                .containsEntry("MemTotal", number)
                .containsEntry("anon", number);
    }

    @Property
    void numbersThatMayNotFitAreNoNumbers(@ForAll @IntRange(min = 19, max = 5_000) int digits) {
        assertThat(KernelNumbers.number("9".repeat(digits))).isEqualTo(OptionalLong.empty());
    }
}
