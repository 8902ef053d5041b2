package io.nodekeeper.bench.load;

import io.nodekeeper.api.json.JsonObject;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.HdrHistogram.Histogram;

/** The measurement of one store: a separate server, a fleet, watchers, and one load after another. Used by one thread. */
final class Trial {
    private static final long WAIT_SECONDS = 300;
    /** The time within which a watcher should see a renewal: the budget. */
    private static final long SEEN_WITHIN_NANOS = 100_000_000;

    private final BenchOptions options;
    private final PrintStream progress;
    private final BenchedServer server;
    private final ServerConnections connections;
    private final Clients clients;
    private final Fleet fleet;
    private final List<WatchProbe> probes = new ArrayList<>();
    private final BitSet acknowledged = new BitSet();
    private final List<JsonObject> rows;
    private long from;

    private Trial(BenchOptions options, PrintStream progress, BenchedServer server, List<JsonObject> rows)
            throws Exception {
        this.rows = rows;
        this.options = options;
        this.progress = progress;
        this.server = server;
        connections = new ServerConnections(server.access());
        clients = onLoop(() -> Clients.connect(connections, options.connections(), options.http2()));
        fleet = new Fleet(options.nodes(), connections.host());
    }

    /** Measures {@code store} with its data in {@code directory}; adds a row of the table to {@code rows} after each load. */
    static void run(BenchOptions options, String store, Path directory, PrintStream progress, List<JsonObject> rows)
            throws Exception {
        progress.println(store + ": starting the server");
        try (BenchedServer server = BenchedServer.start(options.command(), directory, options.serverFlags(store))) {
            Trial trial = new Trial(options, progress, server, rows);
            try {
                trial.run(store);
            } catch (Exception e) {
                progress.println("the server has printed: " + server.output());
                throw e;
            } finally {
                trial.connections.close();
            }
        }
    }

    private void run(String store) throws Exception {
        clients.ready().get(WAIT_SECONDS, TimeUnit.SECONDS);
        finish(row(store, "started").put("residentMb", megabytes()));
        register();
        finish(row(store, "registered " + fleet.size() + " nodes").put("residentMb", megabytes()));
        watch();
        load(store, "warm-up", 0, options.warmupSeconds());
        if (options.seconds() > 0) {
            load(store, "closed loop", 0, options.seconds());
        }
        for (double rate : options.rates()) {
            load(store, "open loop " + (long) rate + "/s", rate, options.openSeconds());
        }
        if (options.idleWatches() > 0) {
            idleWatches(store);
        }
    }

    private void register() throws Exception {
        NodeRequests nodes = new NodeRequests(fleet.size(), fleet::registration, (node, body) -> {});
        all("nodes registered", nodes);
        all("leases created", new NodeRequests(fleet.size(), fleet::creation, fleet::stored));
        for (int node = 0; node < fleet.size(); node++) {
            from = Math.max(from, fleet.version(node));
        }
    }

    private void all(String what, NodeRequests requests) throws Exception {
        connections.loop().execute(() -> clients.work(requests));
        awaitWithProgress(() -> requests.done().isDone(), () -> requests.answered() + " " + what);
        requests.done().get();
    }

    private void watch() throws Exception {
        for (int i = 0; i < options.watchers(); i++) {
            WatchProbe probe = new WatchProbe(connections.host(), from);
            probes.add(probe);
            connections.connect(probe);
        }
        awaitWithProgress(() -> probes.stream().allMatch(WatchProbe::isOpen), () -> "opening watches");
    }

    private void load(String store, String name, double rate, int seconds) throws Exception {
        onLoop(() -> probes.stream().map(WatchProbe::takeLags).toList());
        double serverCpu = ProcessCost.cpuSeconds(server.pid());
        double ownCpu = ProcessCost.cpuSeconds(ProcessHandle.current().pid());
        long written = ProcessCost.writtenBytes(server.pid());
        long began = System.nanoTime();
        Renewals renewals = onLoop(() -> {
            Renewals made = new Renewals(fleet, acknowledged, from, rate);
            clients.work(made);
            return made;
        });
        var ticks = connections.loop().scheduleAtFixedRate(clients::kick, 1, 1, TimeUnit.MILLISECONDS);
        long before = 0;
        for (int second = 1; second <= seconds; second++) {
            Thread.sleep(Math.max(0, second * 1_000L - (System.nanoTime() - began) / 1_000_000));
            if (second % options.progressSeconds() == 0) {
                long done = onLoop(renewals::done);
                progress.printf(
                        "  %s: %d of %d s, %,d renewals/s, %d due and not sent, watch at %d behind%n",
                        name,
                        second,
                        seconds,
                        (done - before) / options.progressSeconds(),
                        onLoop(renewals::late),
                        onLoop(() ->
                                acknowledged.cardinality() - probes.getFirst().count()));
                before = done;
            }
        }
        long done = onLoop(renewals::done);
        double took = (System.nanoTime() - began) / 1e9;
        serverCpu = ProcessCost.cpuSeconds(server.pid()) - serverCpu;
        ownCpu = ProcessCost.cpuSeconds(ProcessHandle.current().pid()) - ownCpu;
        written = ProcessCost.writtenBytes(server.pid()) - written;
        ticks.cancel(false);
        onLoop(() -> {
            clients.rest();
            return "";
        });
        awaitWithProgress(() -> clients.atRest(), () -> name + " ends");
        Histogram lags = new Histogram(60_000_000_000L, 2);
        String verdict = verify(lags);
        Histogram latencies = onLoop(() -> renewals.latencies().copy());
        JsonObject.Builder row = row(store, name)
                .put("renewalsPerSecond", Math.round(done / took))
                .put("latencyMs", percentiles(latencies))
                .put("watchLagMs", percentiles(lags))
                .put("seenLaterThan100Ms", lags.getCountBetweenValues(SEEN_WITHIN_NANOS, lags.getMaxValue() + 1))
                .put("watch", verdict)
                .put("refusals", renewals.refusals().toString())
                .put("firstRefusal", renewals.firstRefusal().orElse(""))
                .put("connections", clients.fault().orElse("all open"))
                .put("serverCpuMicros", Math.round(serverCpu * 1e6 / Math.max(1, done)))
                .put("generatorCpuMicros", Math.round(ownCpu * 1e6 / Math.max(1, done)))
                .put("serverWrittenBytes", written / Math.max(1, done))
                .put("residentMb", megabytes());
        finish(row);
    }

    /** Checks that every watcher received every acknowledged revision once and in order, and nothing else. */
    private String verify(Histogram lags) throws Exception {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
        while (System.nanoTime() < deadline
                && !onLoop(() -> probes.stream().allMatch(probe -> probe.count() >= acknowledged.cardinality()))) {
            Thread.sleep(20);
        }
        return onLoop(() -> {
            for (WatchProbe probe : probes) {
                if (probe.fault().isPresent()) {
                    return probe.fault().get();
                }
                BitSet missed = (BitSet) acknowledged.clone();
                missed.andNot(probe.seen());
                BitSet invented = (BitSet) probe.seen().clone();
                invented.andNot(acknowledged);
                if (!missed.isEmpty() || !invented.isEmpty()) {
                    return missed.cardinality() + " missed, " + invented.cardinality() + " never acknowledged";
                }
                lags.add(probe.takeLags());
            }
            return "each once, in order";
        });
    }

    private void idleWatches(String store) throws Exception {
        long began = System.nanoTime();
        long before = megabytes();
        IdleWatches watches = onLoop(() -> IdleWatches.open(connections, options.idleWatches(), from));
        awaitWithProgress(() -> watches.opened().isDone(), () -> watches.open() + " idle watches open");
        watches.opened().get();
        double took = (System.nanoTime() - began) / 1e9;
        double cpu = ProcessCost.cpuSeconds(server.pid());
        Thread.sleep(5_000);
        cpu = ProcessCost.cpuSeconds(server.pid()) - cpu;
        finish(row(store, options.idleWatches() + " idle watches")
                .put("openedInSeconds", Math.round(took))
                .put("idleCpuPercent", Math.round(cpu / 5 * 100))
                .put("residentMbBefore", before)
                .put("residentMb", megabytes()));
        load(store, "open loop beside them", options.rates().getFirst() / 2, options.openSeconds() / 2);
        // Each node changes once, and only its own watch gets the event.
        int changed = Math.min(200, options.idleWatches());
        all("nodes changed", new NodeRequests(changed, fleet::label, (node, body) -> {}));
        awaitWithProgress(() -> watches.told() >= changed, () -> watches.told() + " watches told");
        finish(row(store, "idle watches at the end")
                .put("lost", watches.lost())
                .put("fault", watches.fault().orElse(""))
                .put("told", watches.told() + " of " + changed));
    }

    private JsonObject.Builder row(String store, String name) {
        progress.println(store + ": " + name);
        return JsonObject.builder().put("store", store).put("phase", name);
    }

    private void finish(JsonObject.Builder row) {
        rows.add(row.build());
        progress.println("  " + row.build());
    }

    private long megabytes() throws Exception {
        return ProcessCost.residentBytes(server.pid()) >> 20;
    }

    private static JsonObject percentiles(Histogram nanos) {
        JsonObject.Builder result = JsonObject.builder();
        for (double percentile : new double[] {50, 99, 99.9, 100}) {
            String name = percentile == 100 ? "max" : "p" + (percentile == 99.9 ? "99.9" : (int) percentile);
            result.put(name, Math.round(nanos.getValueAtPercentile(percentile) / 1e4) / 100.0 + "");
        }
        return result.build();
    }

    private <T> T onLoop(Callable<T> call) throws Exception {
        return connections.call(call);
    }

    private void awaitWithProgress(BooleanSupplier done, Callable<String> text) throws Exception {
        long began = System.nanoTime();
        for (long tick = 1; !onLoop(done::getAsBoolean); tick++) {
            if (System.nanoTime() - began > TimeUnit.SECONDS.toNanos(WAIT_SECONDS)) {
                throw new IllegalStateException("not done after " + WAIT_SECONDS + " s: " + onLoop(text));
            }
            Thread.sleep(10);
            if (tick % (options.progressSeconds() * 100L) == 0) {
                progress.println("  " + onLoop(text));
            }
        }
    }
}
