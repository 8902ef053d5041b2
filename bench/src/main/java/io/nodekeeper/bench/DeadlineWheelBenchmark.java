package io.nodekeeper.bench;

import io.nodekeeper.time.DeadlineWheel;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/** 130,000 deadlines, each moved every 10 s of a time that advances with the calls, as for the nodes of a large fleet. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 5, time = 2)
@Measurement(iterations = 5, time = 2)
@Fork(2)
public class DeadlineWheelBenchmark {
    private static final int NODES = 130_000;
    private static final long GRACE = 50_000_000_000L;
    private static final long STEP = 10_000_000_000L / NODES;

    private final DeadlineWheel<Integer> wheel = new DeadlineWheel<>();
    private final List<DeadlineWheel.Deadline<Integer>> deadlines = new ArrayList<>();
    private int next;
    private long now;

    /** Sets all deadlines. */
    @Setup
    public void fill() {
        for (int i = 0; i < NODES; i++) {
            deadlines.add(new DeadlineWheel.Deadline<>(i));
            now += STEP;
            wheel.set(deadlines.get(i), now + GRACE);
        }
    }

    /** Moves one deadline, with its share of the timers that fire early. */
    @Benchmark
    public long setAndPoll() {
        next = next + 1 == NODES ? 0 : next + 1;
        now += STEP;
        wheel.set(deadlines.get(next), now + GRACE);
        if (wheel.nextWake() <= now) {
            wheel.poll(now, owner -> {
                throw new IllegalStateException("deadline " + owner + " passed");
            });
        }
        return wheel.nextWake();
    }
}
