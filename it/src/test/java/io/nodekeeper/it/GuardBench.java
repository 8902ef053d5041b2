package io.nodekeeper.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.Locale;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * How many reviews a guard answers, how soon, and what each costs: a node controller that blames all nodes at the same time.
 * Takes about three minutes, so it is not one of the tests: {@code scripts/bench-guard} runs it.
 */
class GuardBench {
    private static final int NODES = Integer.getInteger("guard.nodes", 500);
    private static final Duration MEASURED = Duration.ofSeconds(Integer.getInteger("guard.seconds", 10));
    private static final int[] RATES = Arrays.stream(
                    System.getProperty("guard.rates", "250,500,1000,2000").split(","))
            .mapToInt(Integer::parseInt)
            .toArray();
    /** A node with 50 images has so many; a review has two versions of it. */
    private static final int NODE_BYTES = 10_000;

    @TempDir
    Path directory;

    /** The node's list of images, the larger part of every real node. */
    private static String images() {
        StringBuilder images = new StringBuilder("\"images\":[");
        for (int i = 0; images.length() < NODE_BYTES; i++) {
            images.append("{\"names\":[\"registry.example/group/image-%d@sha256:%064x\"],\"sizeBytes\":%d},"
                    .formatted(i, i * 7919L, 10_000_000 + i));
        }
        images.setLength(images.length() - 1);
        return images.append("],").toString();
    }

    /** The share of the processors' time that they did something, in all processes of the machine, since {@code before}. */
    private static double busy(long[] before) throws Exception {
        long[] now = ticks();
        return 1 - (now[0] - before[0]) / (double) (now[1] - before[1]);
    }

    /** Idle and all ticks of the machine so far. */
    private static long[] ticks() throws Exception {
        String line = Files.readString(Path.of("/proc/stat"), StandardCharsets.US_ASCII)
                .lines()
                .findFirst()
                .orElseThrow();
        long[] fields = Arrays.stream(line.split(" +"))
                .skip(1)
                .limit(8)
                .mapToLong(Long::parseLong)
                .toArray();
        return new long[] {fields[3] + fields[4], Arrays.stream(fields).sum()};
    }

    @Test
    void aNodeControllerThatBlamesEveryNode() throws Exception {
        String writer = "system:serviceaccount:kube-system:node-controller";
        String images = images();
        byte[][] reviews = IntStream.range(0, NODES)
                .mapToObj(i -> ReviewLoad.request(GuardCluster.review("node-" + i, writer, images)))
                .toArray(byte[][]::new);
        try (GuardCluster cluster = new GuardCluster(directory);
                Running nodes = Running.hollow(directory, cluster.admin(), "node-", NODES)) {
            BenchReport report = new BenchReport();
            report.now(NODES + " nodes register");
            nodes.awaitReady();
            try (Running guard = cluster.guard(Duration.ofSeconds(40))) {
                Thread.sleep(Duration.ofSeconds(15));
                try (ReviewLoad load = new ReviewLoad(cluster.tls(), GuardCluster.port(guard))) {
                    report.now("the guard gets warm");
                    for (int rate : RATES) {
                        load.run(Math.min(rate, 1_000), MEASURED, i -> reviews[i % NODES]);
                    }
                    report.add("""

                            %d nodes, %d bytes a review, %d processors, %s

                            | reviews/s | blamed nodes | p50 ms | p90 ms | p99 ms | max ms | refused | failed \
                            | guard µs | API server µs | load and front µs | machine busy |
                            |---|---|---|---|---|---|---|---|---|---|---|---|
                            """.formatted(
                                    NODES,
                                    reviews[0].length,
                                    Runtime.getRuntime().availableProcessors(),
                                    System.getProperty("java.vm.version")));
                    int number = 0;
                    for (int blamed : new int[] {NODES, 1}) {
                        for (int rate : RATES) {
                            report.now("measurement " + ++number + " of " + 2 * RATES.length + ": " + rate
                                    + " reviews/s about " + blamed + " nodes");
                            report.add(measure(cluster, guard, load, rate, blamed, reviews));
                        }
                    }
                }
            }
        }
    }

    /** The row of one rate. */
    private static String measure(
            GuardCluster cluster, Running guard, ReviewLoad load, int rate, int blamed, byte[][] reviews)
            throws Exception {
        long self = ProcessHandle.current().pid();
        double cpu = ProcessFacts.cpuSeconds(guard.pid());
        double serverCpu = ProcessFacts.cpuSeconds(cluster.server().pid());
        double ownCpu = ProcessFacts.cpuSeconds(self);
        long[] before = ticks();
        ReviewLoad.Result result = load.run(rate, MEASURED, i -> reviews[i % blamed]);
        int count = result.took().length;
        assertThat(result.failed()).isZero();
        assertThat(result.refused()).isPositive();
        return String.format(
                Locale.ROOT,
                "| %d | %d | %.1f | %.1f | %.1f | %.1f | %.1f %% | %d | %.0f | %.0f | %.0f | %.0f %% |%n",
                rate,
                blamed,
                result.millis(0.5),
                result.millis(0.9),
                result.millis(0.99),
                result.millis(1),
                100.0 * result.refused() / count,
                result.failed(),
                (ProcessFacts.cpuSeconds(guard.pid()) - cpu) / count * 1e6,
                (ProcessFacts.cpuSeconds(cluster.server().pid()) - serverCpu) / count * 1e6,
                (ProcessFacts.cpuSeconds(self) - ownCpu) / count * 1e6,
                100 * busy(before));
    }
}
