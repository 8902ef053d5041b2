package io.nodekeeper.agent.problems;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.agent.facts.ConditionReport;
import io.nodekeeper.client.ServerDate;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Optional;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.LongRange;

class ClockCheckTest {
    private static final Instant TRUE_TIME = Instant.parse("2026-01-01T00:00:00.700Z");

    /** A request sent at the true time by a clock with {@code offset}; the server answers after {@code there}. */
    private static ConditionReport with(Duration offset, Duration there, Duration back) {
        Instant date = TRUE_TIME.plus(there).truncatedTo(ChronoUnit.SECONDS);
        return ClockCheck.judge(new ServerDate(date, TRUE_TIME.plus(offset), there.plus(back)))
                .conditions()
                .getFirst();
    }

    @Example
    void aClockAMinuteAheadOrBehindIsFarOff() {
        assertThat(with(Duration.ofSeconds(60), Duration.ofMillis(5), Duration.ofMillis(5)))
                .isEqualTo(new ConditionReport(
                        "ClockSkew",
                        "True",
                        "ClockFarOff",
                        "the node's clock is 59s or more ahead of the API server's; expected 10s at most"));
        assertThat(with(Duration.ofSeconds(-60), Duration.ofMillis(5), Duration.ofMillis(5)))
                .isEqualTo(new ConditionReport(
                        "ClockSkew",
                        "True",
                        "ClockFarOff",
                        "the node's clock is 59s or more behind the API server's; expected 10s at most"));
    }

    @Example
    void withoutADateThereIsNoCondition() {
        assertThat(new ClockCheck(Optional::empty).run().conditions()).isEmpty();
    }

    @Property
    void aClockWithinTenSecondsIsNeverAccused(
            @ForAll @LongRange(min = -10_000, max = 10_000) long offsetMillis,
            @ForAll @LongRange(min = 0, max = 60_000) long there,
            @ForAll @LongRange(min = 0, max = 60_000) long back) {
        assertThat(with(Duration.ofMillis(offsetMillis), Duration.ofMillis(there), Duration.ofMillis(back))
                        .status())
                .isEqualTo("False");
    }

    @Property
    void aClockFurtherOffThanTenSecondsAndTheUncertaintyIsAlwaysFound(
            @ForAll @LongRange(min = 1, max = 1_000_000) long beyond,
            @ForAll boolean ahead,
            @ForAll @LongRange(min = 0, max = 2_000) long there,
            @ForAll @LongRange(min = 0, max = 2_000) long back) {
        long offset = 10_000 + 1_000 + there + back + beyond;

        assertThat(with(Duration.ofMillis(ahead ? offset : -offset), Duration.ofMillis(there), Duration.ofMillis(back))
                        .status())
                .isEqualTo("True");
    }
}
