package io.nodekeeper.controller.lags;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.LongRange;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Estimates of the clock skew of nodes. All times are microseconds. */
class ClockSkewTest {
    private static final long MILLI = 1_000;
    private static final long SECOND = 1_000_000;
    private static final long HOUR = 3_600 * SECOND;
    private static final long START = 1_420_113_600L * SECOND;

    private final ClockSkew.State state = new ClockSkew.State();
    private long now = START;

    @Test
    @Tag("L13")
    void nodeWhoseClockIsTwoHoursFastIsShownAsSuch() {
        renew(2 * HOUR, 30 * MILLI, 10);

        assertThat(ClockSkew.skew(state, 0).text()).isEqualTo("clock ahead by 1h59m59.97s to 2h0m0.97s");
        assertThat(state.jumps()).isZero();
    }

    @Test
    @Tag("L13")
    void nodeWhoseClockIsTwoHoursSlowIsShownAsSuch() {
        renew(-2 * HOUR, 30 * MILLI, 10);

        assertThat(ClockSkew.skew(state, 0).text()).isEqualTo("clock behind by 1h59m59.03s to 2h0m0.03s");
    }

    @Test
    void clockThatIsRightAgrees() {
        renew(0, 30 * MILLI, 10);

        assertThat(ClockSkew.skew(state, 0).text()).isEqualTo("clock agrees within 1s");
    }

    @Test
    void lagIsWhatARenewalTookBeyondTheQuickestWhateverTheClocks() {
        assertThat(ClockSkew.lag(state, now, now + SECOND)).isZero();
        renew(-2 * HOUR, 30 * MILLI, 10);

        assertThat(ClockSkew.lag(state, now - 2 * HOUR, now + 730 * MILLI)).isEqualTo(700 * MILLI);
        assertThat(ClockSkew.lag(state, now - 2 * HOUR, now + 10 * MILLI)).isZero();
    }

    @Test
    void clockSetBackIsDetectedAfterThreeRenewals() {
        renew(0, 30 * MILLI, 100);

        assertThat(renew(-600 * SECOND, 50 * MILLI, 2)).containsExactly(false, false);
        assertThat(renew(-600 * SECOND, 40 * MILLI, 2)).containsExactly(true, false);

        assertThat(state.lastJump()).isEqualTo(-600 * SECOND - 10 * MILLI);
        assertThat(state.jumps()).isEqualTo(1);
        assertThat(ClockSkew.skew(state, 0).text()).isEqualTo("clock behind by 9m59.04s to 10m0.04s");
    }

    @Test
    void fastestOfThreeRenewalsShowsHowFarTheClockWasSetBack() {
        renew(0, 30 * MILLI, 100);

        renew(-600 * SECOND, 40 * MILLI, 1);
        renew(-600 * SECOND, 60 * MILLI, 1);
        assertThat(renew(-600 * SECOND, 50 * MILLI, 1)).containsExactly(true);

        assertThat(state.lastJump()).isEqualTo(-600 * SECOND - 10 * MILLI);
    }

    @Test
    void differenceOfFiveSecondsIsNoJumpAndAnyMoreIsOne() {
        renew(0, 30 * MILLI, 100);
        assertThat(renew(0, 30 * MILLI + 5 * SECOND, 3)).containsExactly(false, false, false);
        assertThat(renew(0, 31 * MILLI + 5 * SECOND, 3)).containsExactly(false, false, true);

        ClockSkewTest ahead = new ClockSkewTest();
        ahead.renew(0, 30 * MILLI, 100);
        assertThat(ahead.renew(5 * SECOND, 30 * MILLI, 1)).containsExactly(false);
        assertThat(ahead.renew(10 * SECOND + 1, 30 * MILLI, 1)).containsExactly(true);
    }

    @Test
    void clockWhoseDifferenceMayBeNothingAgrees() {
        assertThat(new ClockSkew.Skew(0, SECOND).text()).isEqualTo("clock agrees within 1s");
        assertThat(new ClockSkew.Skew(-SECOND, 0).text()).isEqualTo("clock agrees within 1s");
        assertThat(new ClockSkew.Skew(MILLI, SECOND).text()).isEqualTo("clock ahead by 1ms to 1s");
        assertThat(new ClockSkew.Skew(-SECOND, -MILLI).text()).isEqualTo("clock behind by 1ms to 1s");
    }

    @Test
    void clockSetAheadIsDetectedImmediately() {
        renew(0, 30 * MILLI, 100);

        assertThat(renew(600 * SECOND, 30 * MILLI, 2)).containsExactly(true, false);

        assertThat(state.lastJump()).isEqualTo(600 * SECOND);
    }

    @Test
    void twoRenewalsThatTookLongAreNoJump() {
        renew(0, 30 * MILLI, 100);

        assertThat(renew(0, 20 * SECOND, 2)).containsExactly(false, false);
        renew(0, 30 * MILLI, 1);
        assertThat(renew(0, 20 * SECOND, 2)).containsExactly(false, false);

        assertThat(state.jumps()).isZero();
    }

    @Test
    void driftingClockIsFollowed() {
        // 500 ppm, the most that a clock may be slewed by: 5 ms in each 10 s, half a second in 100 of them.
        for (int i = 1; i <= 100; i++) {
            renew(-5 * MILLI * i, 30 * MILLI, 1);
        }

        assertThat(ClockSkew.skew(state, 0).atLeast()).isBetween(-530 * MILLI, -190 * MILLI);
    }

    @Test
    void jumpOfOurOwnClockIsNotAttributedToNodes() {
        SteadyClock clock = new SteadyClock(0, START);
        renew(0, 30 * MILLI, 100);
        assertThat(clock.check(1_000 * SECOND * 1_000, START + 1_000 * SECOND)).isZero();

        // This machine's clock is set back by an hour.
        assertThat(clock.check(1_001 * SECOND * 1_000, START + 1_001 * SECOND - HOUR))
                .isEqualTo(-HOUR);

        assertThat(clock.micros(1_001 * SECOND * 1_000)).isEqualTo(START + 1_001 * SECOND);
        assertThat(renew(0, 30 * MILLI, 10)).doesNotContain(true);
        assertThat(ClockSkew.skew(state, clock.shift()).text()).isEqualTo("clock ahead by 59m59.97s to 1h0m0.97s");
        assertThat(clock.check(1_002 * SECOND * 1_000, START + 1_002 * SECOND - HOUR))
                .isZero();
    }

    @Property(tries = 300)
    void truthLiesBetweenTheEstimateAndTheLeastDelayBeyondIt(
            @ForAll @LongRange(min = -10 * 8_766 * 3_600 * SECOND, max = 10 * 8_766 * 3_600 * SECOND) long skew,
            @ForAll @Size(min = 3, max = 200) List<@IntRange(max = 4_999_999) Integer> delays) {
        ClockSkew.State any = new ClockSkew.State();
        long time = START;
        List<Integer> heard = new ArrayList<>();
        for (int delay : delays) {
            time += 10 * SECOND;
            assertThat(ClockSkew.heard(any, time + skew, time + delay)).isFalse();
            heard.add(delay);
            if (heard.size() >= 3) {
                long error = skew - ClockSkew.skew(any, 0).atLeast();
                List<Integer> last = heard.subList(Math.max(0, heard.size() - 32), heard.size());
                assertThat(error)
                        .isBetween((long) heard.stream().min(Integer::compare).orElseThrow(), (long)
                                last.stream().min(Integer::compare).orElseThrow());
                assertThat(ClockSkew.lag(any, time + skew, time + delay)).isEqualTo(delay - error);
            }
        }
    }

    @Property(tries = 300)
    void allTimesAreValid(@ForAll List<@LongRange(min = -62_135_596_800L, max = 253_402_300_799L) Long> renewSeconds) {
        ClockSkew.State any = new ClockSkew.State();
        for (long renewed : renewSeconds) {
            now += 10 * SECOND;
            ClockSkew.heard(any, renewed * SECOND, now);

            assertThat(ClockSkew.lag(any, renewed * SECOND, now)).isNotNegative();
            if (any.isKnown()) {
                ClockSkew.Skew skew = ClockSkew.skew(any, 0);
                assertThat(skew.atMost()).isEqualTo(skew.atLeast() + SECOND);
                assertThat(skew.text()).startsWith("clock ");
            }
        }
    }

    /** Renews each 10 s by a clock that is {@code skew} ahead; for each whether it was taken for a jump. */
    private List<Boolean> renew(long skew, long delay, int times) {
        List<Boolean> jumps = new ArrayList<>();
        for (int i = 0; i < times; i++) {
            now += 10 * SECOND;
            jumps.add(ClockSkew.heard(state, now + skew, now + delay));
        }
        return jumps;
    }
}
