package io.nodekeeper.time;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.Tuple;

/** The wheel, whose timers are set lazily, expires the same deadlines as a table that is searched each time. */
class DeadlineWheelTest {
    private static final long SECOND = 1_000_000_000L;

    sealed interface Step {}

    record Set(int owner, long delay) implements Step {}

    record Cancel(int owner) implements Step {}

    record Advance(long by) implements Step {}

    @Property(tries = 500)
    void expiresWhatATableWouldExpire(@ForAll("steps") List<Step> steps) {
        DeadlineWheel<Integer> wheel = new DeadlineWheel<>();
        Map<Integer, DeadlineWheel.Deadline<Integer>> deadlines = new HashMap<>();
        Map<Integer, Long> table = new HashMap<>();
        long now = 0;
        for (Step step : steps) {
            switch (step) {
                case Set(int owner, long delay) -> {
                    wheel.set(deadlines.computeIfAbsent(owner, DeadlineWheel.Deadline::new), now + delay);
                    table.put(owner, now + delay);
                }
                case Cancel(int owner) -> {
                    wheel.cancel(deadlines.computeIfAbsent(owner, DeadlineWheel.Deadline::new));
                    table.remove(owner);
                }
                case Advance(long by) -> {
                    now += by;
                    List<Integer> expired = new ArrayList<>();
                    wheel.poll(now, expired::add);

                    long time = now;
                    assertThat(expired)
                            .doesNotHaveDuplicates()
                            .allSatisfy(owner -> assertThat(table.get(owner)).isLessThan(time));
                    expired.forEach(table::remove);
                    assertThat(table.values())
                            .allSatisfy(at -> assertThat(at + DeadlineWheel.TICK_NANOS)
                                    .as("late by more than a tick")
                                    .isGreaterThan(time));
                }
            }
            if (!table.isEmpty()) {
                long next = table.values().stream().min(Long::compare).orElseThrow();
                assertThat(wheel.nextWake()).isLessThanOrEqualTo(Math.max(next, now) + DeadlineWheel.TICK_NANOS);
            }
        }
    }

    /** 1,000 owners with a deadline in a tick each, all moved by a minute. */
    private static DeadlineWheel<Integer> moved(List<DeadlineWheel.Deadline<Integer>> deadlines) {
        DeadlineWheel<Integer> wheel = new DeadlineWheel<>();
        for (int owner = 0; owner < 1_000; owner++) {
            DeadlineWheel.Deadline<Integer> deadline = new DeadlineWheel.Deadline<>(owner);
            deadlines.add(deadline);
            wheel.set(deadline, 10 * SECOND + owner * DeadlineWheel.TICK_NANOS);
        }
        for (int owner = 0; owner < 1_000; owner++) {
            wheel.set(deadlines.get(owner), 60 * SECOND + owner * DeadlineWheel.TICK_NANOS);
        }
        return wheel;
    }

    @Example
    void movedDeadlinesShareWakes() {
        DeadlineWheel<Integer> wheel = moved(new ArrayList<>());
        int wakes = 0;
        while (wheel.nextWake() < 12 * SECOND) {
            wakes++;
            wheel.poll(wheel.nextWake(), owner -> {
                throw new AssertionError(owner + " expired");
            });
        }
        // One for each 129 ticks: the one that is due, and the 128 after it.
        assertThat(wakes).isEqualTo(8);
    }

    @Example
    void deadlineAmongMovedOnesWakesInTime() {
        List<DeadlineWheel.Deadline<Integer>> deadlines = new ArrayList<>();
        DeadlineWheel<Integer> wheel = moved(deadlines);
        long at = 10 * SECOND + 300 * DeadlineWheel.TICK_NANOS;
        wheel.set(deadlines.get(300), at);
        List<Integer> expired = new ArrayList<>();
        long now = 0;
        while (expired.isEmpty()) {
            now = wheel.nextWake();
            wheel.poll(now, expired::add);
        }
        assertThat(expired).containsExactly(300);
        assertThat(now).isBetween(at + 1, at + DeadlineWheel.TICK_NANOS);
    }

    @Provide
    Arbitrary<List<Step>> steps() {
        Arbitrary<Integer> owner = Arbitraries.integers().between(0, 9);
        Arbitrary<Long> time = Arbitraries.oneOf(
                Arbitraries.longs().between(0, 3 * DeadlineWheel.TICK_NANOS),
                Arbitraries.longs().between(0, 60 * SECOND),
                Arbitraries.longs().between(0, 3600 * SECOND));
        return Arbitraries.frequencyOf(
                        Tuple.of(6, Combinators.combine(owner, time).as(Set::new)),
                        Tuple.of(1, owner.map(Cancel::new)),
                        Tuple.of(5, time.map(Advance::new)))
                .map(Step.class::cast)
                .list()
                .ofMaxSize(80);
    }
}
