package io.nodekeeper.bench;

import io.nodekeeper.api.Lease;
import io.nodekeeper.api.json.Json;
import io.nodekeeper.client.scan.LeaseLine;
import java.time.Instant;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;
import org.openjdk.jmh.infra.Blackhole;

/** Compares two ways of reading a lease event: from its bytes, and with the full parser. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(2)
public class LeaseLineBenchmark {
    /** Different lines, so that the branch predictor cannot learn them. */
    private static final int LINES = 1_024;

    /** Whether the lease carries managedFields. */
    @Param({"false", "true"})
    public boolean managedFields;

    private final byte[][] lines = new byte[LINES][];
    private final LeaseLine line = new LeaseLine();
    private int next;

    /** Makes the lines. */
    @Setup
    public void make() {
        for (int i = 0; i < LINES; i++) {
            lines[i] = LeaseEvents.renewal(i * 127, i % 7, managedFields);
        }
    }

    /** The hot path. */
    @Benchmark
    public long scan() {
        byte[] bytes = next();
        if (!line.scan(bytes, 0, bytes.length)) {
            throw new IllegalStateException("not understood");
        }
        return line.renewMicros() ^ line.resourceVersion() ^ line.nameHash();
    }

    /** The alternative. */
    @Benchmark
    public void fullParser(Blackhole blackhole) {
        Lease lease = new Lease(Json.parseObject(next()).object("object"));
        blackhole.consume(lease.name());
        blackhole.consume(lease.resourceVersion());
        blackhole.consume(lease.renewTime().orElse(Instant.EPOCH));
    }

    private byte[] next() {
        next = (next + 1) & (LINES - 1);
        return lines[next];
    }
}
