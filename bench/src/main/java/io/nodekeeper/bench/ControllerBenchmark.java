package io.nodekeeper.bench;

import io.nodekeeper.client.KubeClient;
import io.nodekeeper.client.Transport;
import io.nodekeeper.client.events.EventRecorder;
import io.nodekeeper.controller.Controller;
import io.nodekeeper.controller.ControllerPorts;
import io.nodekeeper.controller.config.ControllerConfig;
import io.nodekeeper.controller.history.History;
import io.nodekeeper.controller.metrics.ControllerMetrics;
import io.nodekeeper.time.Randoms;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
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

/**
 * The cost of one renewal in the real controller, from the bytes of its line to the node's next deadline, including
 * rhythm, lag, clock and metrics. Only the network is excluded. {@code rewrite} is the benchmark's own
 * share of {@code observe}.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 5, time = 2)
@Measurement(iterations = 5, time = 2)
@Fork(value = 2, jvmArgsAppend = "-Xmx2g")
public class ControllerBenchmark {
    private static final String LEASES = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases";
    private static final long PERIOD = 10_000_000_000L;
    private static final int VERSION_DIGITS = 12;
    private static final long FIRST_VERSION = 100_000_000_000L;

    /** The number of nodes; each renews every 10 s. */
    @Param({"10000", "130000"})
    public int nodes;

    private final BenchLoop loop = new BenchLoop(Instant.parse("2026-01-31T00:00:00Z"));
    private final BenchServer server = new BenchServer();
    private byte[][] lines = new byte[0][];
    private int versionAt;
    private int timeAt;
    private int next;
    private long version = FIRST_VERSION;

    /** Starts a controller that knows all nodes. */
    @Setup
    public void start() {
        StringBuilder nodeList = new StringBuilder();
        StringBuilder leaseList = new StringBuilder();
        lines = new byte[nodes][];
        for (int i = 0; i < nodes; i++) {
            String comma = i == 0 ? "" : ",";
            String name = LeaseEvents.name(i);
            nodeList.append(comma)
                    .append("{\"kind\":\"Node\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"")
                    .append(name)
                    .append("\",\"uid\":\"uid-")
                    .append(name)
                    .append("\",\"resourceVersion\":\"1\",\"labels\":{\"kubernetes.io/os\":\"linux\","
                            + "\"beta.kubernetes.io/os\":\"linux\",\"kubernetes.io/arch\":\"amd64\","
                            + "\"beta.kubernetes.io/arch\":\"amd64\"}},\"spec\":{},\"status\":{\"conditions\":[{\"type\":"
                            + "\"Ready\",\"status\":\"True\",\"lastHeartbeatTime\":\"2026-01-31T00:00:00Z\"}]}}");
            lines[i] = line(name);
            String line = new String(lines[i], StandardCharsets.US_ASCII);
            leaseList.append(comma).append(line, line.indexOf("{\"kind\""), line.length() - 1);
        }
        server.list("/api/v1/nodes", nodeList);
        server.list(LEASES, leaseList);
        server.version(version);
        KubeClient client = new KubeClient(server, loop, Duration.ofSeconds(30));
        EventRecorder nobody = (object, type, reason, message) -> {};
        new Controller(
                        ControllerConfig.DEFAULT,
                        new ControllerPorts(
                                client,
                                loop,
                                component -> nobody,
                                Randoms.seeded(1),
                                new ControllerMetrics(),
                                History.NONE))
                .start();
        for (int i = 0; i < 3 * nodes; i++) {
            observe();
        }
    }

    /** Observes one renewal, including every canary and tick of the wheel that is due in between. */
    @Benchmark
    public long observe() {
        byte[] line = rewrite();
        Transport.StreamHandler watch = server.watch(LEASES);
        watch.onLine(line);
        loop.advance(PERIOD / nodes);
        return version;
    }

    /** Writes the next node's line with a new version and time. */
    @Benchmark
    public byte[] rewrite() {
        next = next + 1 == nodes ? 0 : next + 1;
        byte[] line = lines[next];
        digits(line, versionAt, VERSION_DIGITS, ++version);
        long micros = loop.clock().nanoTime() / 1_000;
        digits(line, timeAt, 2, micros / 3_600_000_000L % 24);
        digits(line, timeAt + 3, 2, micros / 60_000_000 % 60);
        digits(line, timeAt + 6, 2, micros / 1_000_000 % 60);
        digits(line, timeAt + 9, 6, micros % 1_000_000);
        server.version(version + 1_000);
        return line;
    }

    private byte[] line(String name) {
        String text = "{\"type\":\"MODIFIED\",\"object\":{\"kind\":\"Lease\",\"apiVersion\":\"coordination.k8s.io/v1\","
                + "\"metadata\":{\"name\":\"" + name + "\",\"namespace\":\"kube-node-lease\",\"uid\":\"uid-" + name
                + "\",\"resourceVersion\":\"" + FIRST_VERSION + "\",\"creationTimestamp\":\"2026-01-31T00:00:00Z\","
                + "\"ownerReferences\":[{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"name\":\"" + name
                + "\",\"uid\":\"uid-" + name + "\"}]},\"spec\":{\"holderIdentity\":\"" + name
                + "\",\"leaseDurationSeconds\":40,\"renewTime\":\"2026-01-31T00:00:00.000000Z\"}}}";
        versionAt = text.indexOf(Long.toString(FIRST_VERSION));
        timeAt = text.indexOf("renewTime\":\"") + "renewTime\":\"2026-01-31T".length();
        return text.getBytes(StandardCharsets.US_ASCII);
    }

    private static void digits(byte[] line, int at, int count, long value) {
        long rest = value;
        for (int i = at + count - 1; i >= at; i--) {
            line[i] = (byte) ('0' + rest % 10);
            rest /= 10;
        }
    }
}
