package io.nodekeeper.bench;

import io.nodekeeper.client.scan.ByteKeyTable;
import io.nodekeeper.client.scan.LeaseLine;
import io.nodekeeper.time.DeadlineWheel;
import java.util.Objects;
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

/**
 * The main steps of one renewal for 130,000 nodes: read its line, find the node by the bytes of its name, compare,
 * move its deadline. Excludes the network and the controller's own bookkeeping.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 5, time = 2)
@Measurement(iterations = 5, time = 2)
@Fork(value = 2, jvmArgsAppend = "-Xmx1g")
public class RenewalBenchmark {
    private static final int NODES = 130_000;
    private static final int ROUNDS = 4;
    private static final long GRACE = 50_000_000_000L;
    private static final long STEP = 10_000_000_000L / NODES;

    private static final class Health {
        private final DeadlineWheel.Deadline<Health> deadline = new DeadlineWheel.Deadline<>(this);
        private long version;
        private long renewMicros;
    }

    private final byte[][] lines = new byte[ROUNDS * NODES][];
    private final ByteKeyTable<Health> nodes = new ByteKeyTable<>();
    private final DeadlineWheel<Health> wheel = new DeadlineWheel<>();
    private final LeaseLine line = new LeaseLine();
    private int next;
    private long now;

    /** Creates the nodes and several rounds of their renewals, enough that none is in a processor cache when it is read. */
    @Setup
    public void make() {
        for (int i = 0; i < lines.length; i++) {
            lines[i] = LeaseEvents.renewal(i % NODES, i / NODES, false);
        }
        for (int i = 0; i < NODES; i++) {
            Health health = new Health();
            nodes.put(LeaseEvents.name(i), health);
            now += STEP;
            wheel.set(health.deadline, now + GRACE);
        }
    }

    /** One renewal observed. */
    @Benchmark
    public long observe() {
        next = next + 1 == lines.length ? 0 : next + 1;
        now += STEP;
        byte[] bytes = lines[next];
        if (!line.scan(bytes, 0, bytes.length)) {
            throw new IllegalStateException("not understood");
        }
        Health health = Objects.requireNonNull(
                nodes.get(line.bytes(), line.nameFrom(), line.nameLength(), line.nameHash()), "node");
        if (line.resourceVersion() != health.version || line.renewMicros() != health.renewMicros) {
            health.version = line.resourceVersion();
            health.renewMicros = line.renewMicros();
            wheel.set(health.deadline, now + GRACE);
        }
        if (wheel.nextWake() <= now) {
            wheel.poll(now, owner -> {
                throw new IllegalStateException("a deadline passed");
            });
        }
        return health.version;
    }
}
