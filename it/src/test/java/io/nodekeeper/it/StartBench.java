package io.nodekeeper.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.client.Call;
import io.nodekeeper.client.HttpTransport;
import io.nodekeeper.client.config.Kubeconfig;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * How long starts take, of processes as users start them: {@code up} and an API server with an empty directory, and an API server that
 * is killed while 10,000 hollow nodes use it, which then all connect again. Takes about seven minutes, so it is not one of the
 * tests: {@code scripts/bench-start} runs it. {@code -Dstart.runs=N} and {@code -Dstart.nodes=N} change its size, and {@code
 * -Dstart.settle=SECONDS} says how long the nodes renew before the first kill: the history of five minutes is read, too.
 */
class StartBench {
    private static final int RUNS = Integer.getInteger("start.runs", 6);
    private static final int NODES = Integer.getInteger("start.nodes", 10_000);
    private static final Duration SETTLE = Duration.ofSeconds(Integer.getInteger("start.settle", 120));
    /** Several times what a start takes on a busy machine. */
    private static final Duration LIMIT = Duration.ofSeconds(120);

    @TempDir
    Path directory;

    private final BenchReport report = new BenchReport();

    /**
     * One start, in milliseconds.
     *
     * @param ready until the line {@code ready}
     * @param processor the processor time until then
     * @param answers until {@code /readyz} answers with 200
     */
    private record Took(double ready, double processor, double answers) {}

    /** A process and how long its start took. */
    private record Started(Running process, String address, Took took) {}

    private Started start(Path data, String name, List<String> arguments) throws Exception {
        long begin = System.nanoTime();
        Running process = Running.byScript(directory, name, arguments.toArray(String[]::new));
        String address = process.awaitAddress();
        double ready = millisSince(begin);
        double processor = ProcessFacts.cpuSeconds(process.pid()) * 1e3;
        HttpTransport client = new HttpTransport(Kubeconfig.load(data.resolve("admin.kubeconfig")));
        try {
            Eventually.within(
                    LIMIT, () -> Fleet.await(client.send(Call.get("/readyz"))).status() == 200);
        } finally {
            client.close();
        }
        return new Started(process, address, new Took(ready, processor, millisSince(begin)));
    }

    private static double millisSince(long begin) {
        return (System.nanoTime() - begin) / 1e6;
    }

    private static List<String> server(Path data, String port) {
        return List.of(
                "apiserver",
                "--data-dir=" + data,
                "--bind-address=127.0.0.1",
                "--secure-port=" + port,
                "--shutdown-delay-duration=0s");
    }

    private List<String> up(Path data) {
        return List.of(
                "up",
                "--data-dir=" + data,
                "--bind-address=127.0.0.1",
                "--secure-port=0",
                "--healthz-port=0",
                "--controller-bind-address=off",
                "--node-name=n1",
                "--root-dir=" + directory,
                "--container-runtime-endpoint=none");
    }

    private void add(String what, List<Took> starts) {
        report.add("| %s | %s | %s | %s |%n"
                .formatted(
                        what,
                        list(starts, Took::ready, " ms"),
                        list(starts, Took::answers, " ms"),
                        list(starts, Took::processor, " ms")));
    }

    /** The median, and all values in their order. */
    private static String list(List<Took> starts, ToDoubleFunction<Took> figure, String unit) {
        List<Double> sorted =
                starts.stream().map(figure::applyAsDouble).sorted().toList();
        return "%.0f%s (%s)"
                .formatted(
                        sorted.get(sorted.size() / 2),
                        unit,
                        starts.stream()
                                .map(took -> String.format(Locale.ROOT, "%.0f", figure.applyAsDouble(took)))
                                .collect(Collectors.joining(", ")));
    }

    @Test
    void startsWithAndWithoutData() throws Exception {
        report.now("step 1 of 3: quick starts are prepared, and up starts %d times".formatted(RUNS));
        report.add("""

                | start | until ready: median (each) | until /readyz answers | processor time until ready |
                |---|---|---|---|
                """);
        add("`up`, empty directory, with a node that is Ready", empty(this::up));
        report.now("step 2 of 3: an API server starts %d times".formatted(RUNS));
        add("API server, empty directory", empty(data -> server(data, "0")));
        killed();
    }

    /** Starts with an empty directory. The first one, which prepares quick starts, does not count. */
    private List<Took> empty(Function<Path, List<String>> command) throws Exception {
        List<Took> starts = new ArrayList<>();
        for (int run = 0; run <= RUNS; run++) {
            Path data = Files.createTempDirectory(directory, "data");
            Started started = start(data, "empty", command.apply(data));
            started.process.kill();
            if (run > 0) {
                starts.add(started.took);
            }
        }
        return starts;
    }

    /** An API server is killed again and again while nodes renew their leases. */
    private void killed() throws Exception {
        report.now("step 3 of 3: %,d nodes register".formatted(NODES));
        Path data = directory.resolve("data");
        Path admin = data.resolve("admin.kubeconfig");
        Started first = start(data, "server", server(data, "0"));
        Running server = first.process;
        String port = first.address.substring(first.address.lastIndexOf(':') + 1);
        List<Took> starts = new ArrayList<>();
        List<Double> renewed = new ArrayList<>();
        try (Running nodes = Running.hollow(directory, admin, "hollow-", NODES)) {
            nodes.awaitReady();
            try (Fleet fleet = new Fleet(admin)) {
                Eventually.within(Duration.ofSeconds(180), () -> fleet.ready() == NODES);
                report.now("step 3 of 3: %,d nodes renew for %d s".formatted(NODES, SETTLE.toSeconds()));
                Thread.sleep(SETTLE.toMillis());
                for (int run = 1; run <= RUNS; run++) {
                    report.now("step 3 of 3: kill %d of %d".formatted(run, RUNS));
                    server.kill();
                    long killed = System.nanoTime();
                    Started again = start(data, "server", server(data, port));
                    server = again.process;
                    starts.add(again.took);
                    Eventually.within(
                            LIMIT,
                            () -> fleet.nodes().values().stream()
                                            .filter(seen -> seen.renewal > killed)
                                            .count()
                                    == NODES);
                    renewed.add(millisSince(killed) / 1e3);
                }
                assertThat(fleet.nodes()).hasSize(NODES);
            }
        } finally {
            server.close();
        }
        add("API server after `kill -9`, %,d nodes connect again".formatted(NODES), starts);
        report.add("All nodes had renewed their leases after %s s.%n"
                .formatted(renewed.stream()
                        .map(seconds -> String.format(Locale.ROOT, "%.1f", seconds))
                        .collect(Collectors.joining(", "))));
    }
}
