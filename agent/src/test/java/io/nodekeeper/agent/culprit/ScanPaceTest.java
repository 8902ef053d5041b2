package io.nodekeeper.agent.culprit;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.agent.culprit.ScanPace.Picture;
import io.nodekeeper.agent.culprit.ScanPace.Trouble;
import io.nodekeeper.time.Randoms;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.random.RandomGenerator;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;

/** When scans come, in virtual time: at once after a change, and rarely while known faults last. */
class ScanPaceTest {
    private static final Duration NEVER = Duration.ofDays(1);

    /** Something that changes {@code after} ms after the change before. */
    private record Change(int after, boolean call) {}

    @Example
    void calmNodeIsScannedEveryFiveSecondsAndNeverDeep() {
        ScanPace pace = new ScanPace(withoutJitter(), 0);
        assertThat(pace.isDeep()).isTrue();

        pace.scanned(picture(Trouble.NONE, "", ""), 0);

        assertThat(pace.isDeep()).isFalse();
        assertThat(pace.pause(0)).isEqualTo(Duration.ofSeconds(5));
        assertThat(pace.isDue(ms(4_999))).isFalse();
        assertThat(pace.isDue(ms(5_000))).isTrue();
    }

    @Example
    void whatIsNotExplainedIsScannedAtTheShortPauseForAsLongAsItLasts() {
        ScanPace pace = new ScanPace(withoutJitter(), 0);

        for (int second = 0; second < 600; second += 3) {
            pace.scanned(picture(Trouble.OPEN, "late Status", "pid 7"), ms(1_000 * second));

            assertThat(pace.isDue(ms(1_000 * second + 1_499))).isFalse();
            assertThat(pace.isDue(ms(1_000 * second + 1_500))).isTrue();
        }
    }

    @Example
    void pausesDoubleOnceAKnownFaultHasNotChangedForTwelveSeconds() {
        ScanPace pace = new ScanPace(withoutJitter(), 0);
        List<Integer> scans = new ArrayList<>();
        int time = 0;
        while (time <= 40_000) {
            if (pace.isDue(ms(time))) {
                scans.add(time);
                pace.scanned(picture(Trouble.KNOWN, "late Status", "ShimStopped"), ms(time));
            }
            time += 500;
        }

        assertThat(scans)
                .containsExactly(
                        0, 1_500, 3_000, 4_500, 6_000, 7_500, 9_000, 10_500, 12_000, 15_000, 21_000, 27_000, 33_000,
                        39_000);
    }

    @Example
    void callsAreComparedBetweenTwoScansWhoseDistanceIsLong() {
        ScanPace pace = settled();

        assertThat(pace.pause(ms(60_000))).isEqualTo(Duration.ofMillis(1_500));
        pace.compare(Set.of("late Status"), ms(61_500));
        assertThat(pace.isDue(ms(61_500))).isFalse();

        pace.compare(Set.of("late Status", "late Version"), ms(61_600));
        assertThat(pace.isDue(ms(61_600))).isTrue();
    }

    @Example
    void answerOfALateCallMakesAScanDue() {
        ScanPace pace = settled();

        pace.compare(Set.of(), ms(61_500));

        assertThat(pace.isDue(ms(61_500))).isTrue();
        assertThat(pace.isDeep()).isTrue();
    }

    @Example
    void pausesAreShortAgainAfterAChange() {
        ScanPace pace = settled();

        pace.scanned(picture(Trouble.KNOWN, "late Status", "ShimStopped DiskStalled"), ms(66_000));

        assertThat(pace.isDue(ms(67_499))).isFalse();
        assertThat(pace.isDue(ms(67_500))).isTrue();
    }

    @Example
    void commandThatReachesItsThresholdIsScannedThen() {
        ScanPace pace = new ScanPace(withoutJitter(), 0);

        pace.scanned(new Picture(Trouble.OPEN, Set.of(), Set.of(), Duration.ofMillis(400)), 0);

        assertThat(pace.pause(0)).isEqualTo(Duration.ofMillis(400));
        assertThat(pace.isDue(ms(400))).isTrue();
    }

    @Example
    void scanWhoseEndIsNeverReportedIsFollowedByAnother() {
        ScanPace pace = settled();

        pace.begun(ms(66_000));

        assertThat(pace.isDue(ms(71_999))).isFalse();
        assertThat(pace.isDue(ms(72_000))).isTrue();
    }

    @Property(tries = 500)
    void scanFollowsEachChangeInTimeAndThereAreFewWhileNothingChanges(
            @ForAll("changes") List<Change> changes, @ForAll long seed) {
        Simulation watch = new Simulation(seed);
        for (Change change : changes) {
            long before = watch.now;
            watch.runUntil(before + ms(change.after));
            assertThat((double) watch.scansSince(before))
                    .as("without a change for %d ms", change.after)
                    .isLessThanOrEqualTo(8 + change.after / 6_000.0);

            long changedAt = watch.now;
            watch.change(change);
            watch.runUntil(changedAt + (change.call ? ms(1_650) : ms(6_600)));
            assertThat(watch.scansSince(changedAt)).as("%s", change).isPositive();
        }
    }

    /** What the watch does with a pace, in virtual time: it compares the calls, scans if that is due, and pauses. */
    private static final class Simulation {
        private final ScanPace pace;
        private final List<Long> scans = new ArrayList<>();
        private int calls;
        private int findings;
        private long now;
        private long next;

        private Simulation(long seed) {
            pace = new ScanPace(Randoms.seeded(seed), 0);
        }

        private void change(Change change) {
            calls += change.call ? 1 : 0;
            findings += change.call ? 0 : 1;
        }

        private void runUntil(long end) {
            for (now = next; now <= end; now = next) {
                pace.compare(Set.of("call " + calls), now);
                if (pace.isDue(now)) {
                    scans.add(now);
                    pace.begun(now);
                    pace.scanned(picture(Trouble.KNOWN, "call " + calls, "finding " + findings), now);
                }
                next = now + pace.pause(now).toNanos();
            }
            now = end;
        }

        private long scansSince(long time) {
            return scans.stream().filter(at -> at > time).count();
        }
    }

    @Provide
    Arbitrary<List<Change>> changes() {
        return Combinators.combine(Arbitraries.integers().between(1, 90_000), Arbitraries.of(true, false))
                .as(Change::new)
                .list()
                .ofMinSize(1)
                .ofMaxSize(12);
    }

    /** A pace that has had the same known fault for a minute. */
    private static ScanPace settled() {
        ScanPace pace = new ScanPace(withoutJitter(), 0);
        for (int time = 0; time <= 60_000; time += 1_500) {
            pace.scanned(picture(Trouble.KNOWN, "late Status", "ShimStopped"), ms(time));
        }
        return pace;
    }

    private static Picture picture(Trouble trouble, String calls, String findings) {
        return new Picture(
                trouble,
                calls.isEmpty() ? Set.of() : Set.of(calls),
                findings.isEmpty() ? Set.of() : Set.of(findings),
                NEVER);
    }

    private static RandomGenerator withoutJitter() {
        return () -> 0;
    }

    private static long ms(long millis) {
        return Duration.ofMillis(millis).toNanos();
    }
}
