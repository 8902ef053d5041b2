package io.nodekeeper.bench.load;

import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/**
 * {@code scripts/bench-growth}: what an API server and a controller cost with more and more nodes. For each number of nodes it
 * starts both with an empty store. The nodes register, then renew their leases at 2,000/s until most of the code is compiled. After
 * that each node renews every 10 s, and the last part of that time is measured.
 */
public final class GrowthBench {
    private static final String USAGE = """
            Usage: scripts/bench-growth [OPTION VALUE]...
              --nodes LIST         default 1000,5000,10000,20000,50000
              --warmup SECONDS     at 2,000 renewals/s; default 90
              --settle SECONDS     at a node's own rate; default 60
              --seconds SECONDS    that are measured; default 60
              --plot FILE          where to write a picture (SVG)
              --command COMMAND    default ./nodekeeper
            """;

    private static final Set<String> KNOWN =
            Set.of("--nodes", "--warmup", "--settle", "--seconds", "--plot", "--command");

    private static final double WARM_RATE = 2_000;
    private static final int RENEW_SECONDS = 10;
    /** Nodes that share a connection, so that 50,000 of them need fewer than the ports of one machine. */
    private static final int NODES_PER_CONNECTION = 10;

    private static final long WAIT_SECONDS = 300;

    private final Map<String, String> given;
    private final PrintStream progress = System.err;

    private GrowthBench(Map<String, String> given) {
        this.given = given;
    }

    /** Runs the measurement; progress goes to standard error, the table to standard output. */
    public static void main(String[] arguments) throws Exception {
        if (List.of(arguments).contains("--help")) {
            System.out.print(USAGE);
            return;
        }
        Map<String, String> given;
        try {
            given = BenchOptions.given(arguments, KNOWN);
        } catch (IllegalArgumentException e) {
            System.err.println(e.getMessage() + "\n" + USAGE);
            System.exit(2);
            return;
        }
        new GrowthBench(given).run();
    }

    private void run() throws Exception {
        List<GrowthRow> rows = new ArrayList<>();
        System.out.println(GrowthRow.HEAD);
        for (String nodes :
                given.getOrDefault("--nodes", "1000,5000,10000,20000,50000").split(",")) {
            GrowthRow row = measure(Integer.parseInt(nodes));
            rows.add(row);
            System.out.println(row.line());
        }
        if (given.containsKey("--plot")) {
            Files.writeString(Path.of(given.get("--plot")), GrowthPlot.of(rows));
        }
    }

    private GrowthRow measure(int nodes) throws Exception {
        Path directory = Files.createTempDirectory("nodekeeper-growth");
        List<String> command =
                Arrays.asList(given.getOrDefault("--command", "./nodekeeper").split(" "));
        progress.printf("%,d nodes: starting the server and the controller%n", nodes);
        double reference = ReferenceLoop.millis();
        try (BenchedServer server = BenchedServer.start(command, directory, List.of("--store", "rocksdb"))) {
            Process controller = controller(command, server, directory);
            try (ServerConnections connections = new ServerConnections(server.access())) {
                Thread.sleep(10_000);
                long serverEmpty = ProcessCost.residentBytes(server.pid());
                long controllerEmpty = ProcessCost.residentBytes(controller.pid());
                Clients clients = connections.call(
                        () -> Clients.connect(connections, Math.max(10, nodes / NODES_PER_CONNECTION), false));
                clients.ready().get(WAIT_SECONDS, TimeUnit.SECONDS);
                Fleet fleet = new Fleet(nodes, connections.host());
                progress.printf("%,d nodes register%n", nodes);
                all(connections, clients, new NodeRequests(nodes, fleet::registration, (node, body) -> {}));
                all(connections, clients, new NodeRequests(nodes, fleet::creation, fleet::stored));
                progress.printf("%,d nodes renew%n", nodes);
                renew(connections, clients, fleet, WARM_RATE, BenchOptions.number(given, "--warmup", 90));
                double rate = (double) nodes / RENEW_SECONDS;
                renew(connections, clients, fleet, rate, BenchOptions.number(given, "--settle", 60));
                double serverCpu = ProcessCost.cpuSeconds(server.pid());
                double controllerCpu = ProcessCost.cpuSeconds(controller.pid());
                int seconds = BenchOptions.number(given, "--seconds", 60);
                double renewals = renew(connections, clients, fleet, rate, seconds);
                return new GrowthRow(
                        nodes,
                        renewals,
                        new GrowthRow.Cost(
                                (ProcessCost.cpuSeconds(server.pid()) - serverCpu) / seconds,
                                serverEmpty,
                                ProcessCost.residentBytes(server.pid())),
                        new GrowthRow.Cost(
                                (ProcessCost.cpuSeconds(controller.pid()) - controllerCpu) / seconds,
                                controllerEmpty,
                                ProcessCost.residentBytes(controller.pid())),
                        reference);
            } finally {
                BenchedServer.stop(controller);
            }
        } finally {
            ApiServerBench.delete(directory);
        }
    }

    private static Process controller(List<String> command, BenchedServer server, Path directory) throws Exception {
        List<String> line = new ArrayList<>(command);
        line.addAll(List.of(
                "controller", "--kubeconfig", server.controllerKubeconfig().toString()));
        line.add("--leader-elect=false");
        return new ProcessBuilder(line)
                .redirectErrorStream(true)
                .redirectOutput(directory.resolve("controller.log").toFile())
                .start();
    }

    private static void all(ServerConnections connections, Clients clients, NodeRequests requests) throws Exception {
        connections.loop().execute(() -> clients.work(requests));
        requests.done().get(WAIT_SECONDS, TimeUnit.SECONDS);
    }

    /** Renews at {@code rate} a second; returns how many a second were answered. */
    private static double renew(ServerConnections connections, Clients clients, Fleet fleet, double rate, int seconds)
            throws Exception {
        Renewals renewals = connections.call(() -> {
            // Only a watch would compare the revisions, and this measurement has none.
            Renewals made = new Renewals(fleet, new BitSet(), 0, rate);
            clients.work(made);
            return made;
        });
        var ticks = connections.loop().scheduleAtFixedRate(clients::kick, 1, 1, TimeUnit.MILLISECONDS);
        long began = System.nanoTime();
        Thread.sleep(seconds * 1_000L);
        double answered = connections.call(renewals::done) / ((System.nanoTime() - began) / 1e9);
        ticks.cancel(false);
        if (!renewals.refusals().isEmpty()) {
            throw new IllegalStateException("refused: " + renewals.refusals() + " " + renewals.firstRefusal());
        }
        Optional<String> fault = connections.call(clients::fault);
        if (fault.isPresent()) {
            throw new IllegalStateException(fault.get());
        }
        connections.call(() -> {
            clients.rest();
            return "";
        });
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(WAIT_SECONDS);
        while (!connections.call(clients::atRest)) {
            if (System.nanoTime() > deadline) {
                throw new IllegalStateException("renewals were not answered within " + WAIT_SECONDS + " s");
            }
            Thread.sleep(10);
        }
        return answered;
    }
}
