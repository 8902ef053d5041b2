package io.nodekeeper.time;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.time.Instant;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.LongRange;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class GoDurationTest {

    @ParameterizedTest
    @CsvSource({
        "0, 0, 0s",
        "40s, 40000000000, 40s",
        "1m30s, 90000000000, 1m30s",
        "4m1.0541s, 241054100000, 4m1.0541s",
        "2h, 7200000000000, 2h0m0s",
        "1.5h, 5400000000000, 1h30m0s",
        ".5s, 500000000, 500ms",
        "1us, 1000, 1µs",
        "1µs, 1000, 1µs",
        "1.5ms, 1500000, 1.5ms",
        "999ns, 999, 999ns",
        "-1m, -60000000000, -1m0s",
        "+1s, 1000000000, 1s",
        "-0, 0, 0s",
        "1h1h, 7200000000000, 2h0m0s"
    })
    void readsAndWritesAsGoDoes(String text, long nanos, String written) {
        assertThat(GoDuration.parse(text)).isEqualTo(Duration.ofNanos(nanos));
        assertThat(GoDuration.format(Duration.ofNanos(nanos))).isEqualTo(written);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "-", "1", "1 s", "s", "1d", "1m-1s", ".s", "1.2.3s", "--1s", "9999999999h"})
    void refusesOtherTexts(String text) {
        assertThatThrownBy(() -> GoDuration.parse(text))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("\"" + text + "\" is not a duration; expected a form like 300ms, 40s, 1m30s or 2h");
    }

    /** Times of the API may be up to 9,998 years apart; nanoseconds in 64 bits end at 292. */
    @Test
    void writesWhatIsLongerThanNanosecondsIn64Bits() {
        Duration distance =
                Duration.between(Instant.parse("2026-11-21T00:00:00Z"), Instant.parse("9999-12-31T23:59:59.500Z"));

        assertThat(GoDuration.format(distance)).isEqualTo("69890855h59m59.5s");
        assertThat(GoDuration.format(distance.negated())).isEqualTo("-69890855h59m59.5s");
        assertThat(GoDuration.format(Duration.ofNanos(Long.MIN_VALUE))).isEqualTo("-2562047h47m16.854775808s");
    }

    @Property
    void readsBackEveryDurationItWrote(@ForAll @LongRange(min = -Long.MAX_VALUE) long nanos) {
        Duration duration = Duration.ofNanos(nanos);
        assertThat(GoDuration.parse(GoDuration.format(duration))).isEqualTo(duration);
    }

    @Property
    void readsAnyTextOrRefusesIt(@ForAll String text) {
        try {
            Duration read = GoDuration.parse(text);
            assertThat(GoDuration.parse(GoDuration.format(read))).isEqualTo(read);
        } catch (IllegalArgumentException e) {
            assertThat(e).hasMessageContaining("is not a duration");
        }
    }
}
