package io.nodekeeper.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.api.Condition;
import io.nodekeeper.api.Lease;
import io.nodekeeper.api.ResourceType;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * What 10,000 nodes cost an API server and a controller as users start them, and how soon the death of 1,000 at once is found. Takes
 * about ten minutes, so it is not one of the tests: {@code scripts/bench-fleet} runs it. {@code -Dfleet.nodes=N} makes it smaller; a
 * tenth dies. {@code -Dfleet.settle=SECONDS} measures earlier or later after the registration; in the first four minutes compilers take
 * as much as the work. The cost is measured twice: while only the controller watches the leases, as in a cluster, and while the
 * observer that times the verdicts does, too.
 */
class FleetScaleBench {
    private static final int NODES = Integer.getInteger("fleet.nodes", 10_000);
    private static final int DYING = NODES / 10;
    private static final Duration GRACE = Duration.ofSeconds(40);
    private static final Duration SETTLE = Duration.ofSeconds(Integer.getInteger("fleet.settle", 240));
    private static final Duration MEASURED = Duration.ofSeconds(60);
    /** Longer than the period of renewals: after it each node's last renewal has been seen. */
    private static final Duration SEEN = Duration.ofSeconds(15);
    /** All of a mass failure are marked so soon after their deadlines, seconds. */
    private static final double LATE_AT_MOST = 2;

    @TempDir
    Path directory;

    /** The processes whose cost is measured. */
    private record Processes(Running controller, Running server, Running nodes) {}

    /** What a minute cost, processor times in seconds. */
    private record Cost(long writes, double controller, double server, double nodes) {
        static Cost now(Observer api, Processes processes) throws Exception {
            return new Cost(
                    revision(api),
                    ProcessFacts.cpuSeconds(processes.controller.pid()),
                    ProcessFacts.cpuSeconds(processes.server.pid()),
                    ProcessFacts.cpuSeconds(processes.nodes.pid()));
        }

        Cost since(Cost before) {
            return new Cost(
                    writes - before.writes,
                    controller - before.controller,
                    server - before.server,
                    nodes - before.nodes);
        }

        /** The rows of the report. */
        String rows(String watches) {
            return """
                    | writes in %d s, %s | %,d (%.0f/s) |
                    | controller, processor time a write | %.0f µs (%.1f %% of a core) |
                    | API server; the process of the living nodes | %.1f %%; %.1f %% of a core |
                    """.formatted(
                            MEASURED.toSeconds(),
                            watches,
                            writes,
                            writes / (double) MEASURED.toSeconds(),
                            controller * 1e6 / writes,
                            controller * 100 / MEASURED.toSeconds(),
                            server * 100 / MEASURED.toSeconds(),
                            nodes * 100 / MEASURED.toSeconds());
        }
    }

    /** The number of writes so far. Of those in a minute, 1 in 30 is a node's status and all others are renewals. */
    private static long revision(Observer api) throws Exception {
        return Long.parseLong(Fleet.await(api.client().list(ResourceType.LEASES, Lease.NODE_NAMESPACE, "limit=1"))
                .object("metadata")
                .text("resourceVersion"));
    }

    private static Cost measured(Observer api, Processes processes) throws Exception {
        Cost before = Cost.now(api, processes);
        Thread.sleep(MEASURED.toMillis());
        return Cost.now(api, processes).since(before);
    }

    @Test
    void tenThousandNodesOfWhichAThousandDieAtOnce() throws Exception {
        BenchReport report = new BenchReport();
        report.now("step 1 of 4: a controller without nodes");
        Path data = directory.resolve("data");
        try (Running server = Running.byScript(
                directory, "apiserver", "apiserver", "--data-dir", data.toString(), "--secure-port", "0")) {
            server.awaitReady();
            Path admin = data.resolve("admin.kubeconfig");
            try (Running controller = Running.byScript(
                            directory,
                            "controller",
                            "controller",
                            "--kubeconfig",
                            data.resolve("controller.kubeconfig").toString(),
                            "--node-monitor-grace-period=" + GRACE.toSeconds() + "s",
                            "--leader-elect=false");
                    Observer api = new Observer(admin)) {
                // Given a controller without nodes, and then with 10,000 Ready nodes.
                Thread.sleep(10_000);
                long emptyHeap = ProcessFacts.liveHeapKb(controller.pid());
                long emptyResident = ProcessFacts.residentKb(controller.pid());
                report.now("step 2 of 4: %,d nodes register".formatted(NODES));
                try (Running living = Running.hollow(directory, admin, "living-", NODES - DYING);
                        Running dying = Running.hollow(directory, admin, "dying-", DYING)) {
                    living.awaitReady();
                    dying.awaitReady();
                    try (Fleet registering = new Fleet(admin)) {
                        Eventually.within(Duration.ofSeconds(180), () -> registering.ready() == NODES);
                    }
                    report.now("step 2 of 4: %,d nodes are registered; the processes settle for %d s"
                            .formatted(NODES, SETTLE.toSeconds()));
                    Thread.sleep(SETTLE.toMillis());

                    // When they renew for a minute.
                    Processes processes = new Processes(controller, server, living);
                    report.now("step 3 of 4: %,d nodes renew for %d s".formatted(NODES, MEASURED.toSeconds()));
                    report.add("""

                            | %,d hollow nodes, %,d die at once | |
                            |---|---|
                            """.formatted(NODES, DYING));
                    report.add(measured(api, processes).rows("only the controller watches"));
                    long heap = ProcessFacts.liveHeapKb(controller.pid());
                    long resident = ProcessFacts.residentKb(controller.pid());
                    report.add("""
                            | controller, heap after collection, 0 → %,d nodes | %,d → %,d KB: %.2f KB a node |
                            | controller, resident, 0 → %,d nodes | %,d → %,d KB: %.2f KB a node |
                            | API server, resident | %,d KB |
                            """.formatted(
                                    NODES,
                                    emptyHeap,
                                    heap,
                                    (heap - emptyHeap) / (double) NODES,
                                    NODES,
                                    emptyResident,
                                    resident,
                                    (resident - emptyResident) / (double) NODES,
                                    ProcessFacts.residentKb(server.pid())));
                    try (Fleet fleet = new Fleet(admin)) {
                        report.now("step 3 of 4: they renew for %d s, observed".formatted(MEASURED.toSeconds()));
                        Thread.sleep(SEEN.toMillis());
                        report.add(measured(api, processes).rows("observed"));
                        assertThat(fleet.nodes().values()).allMatch(seen -> seen.marked == 0);
                        aTenthDies(report, fleet, dying);
                    }
                }
            }
        }
    }

    /** A tenth of the nodes dies: all of these and no others are marked, soon after the grace period. */
    private static void aTenthDies(BenchReport report, Fleet fleet, Running dying) throws Exception {
        report.now("step 4 of 4: %,d nodes die".formatted(DYING));
        dying.kill();
        Eventually.within(
                GRACE.plusSeconds(30),
                () -> fleet.nodes().values().stream()
                                .filter(seen -> seen.marked > 0)
                                .count()
                        >= DYING);
        Thread.sleep(GRACE.toMillis());

        // Then it and no other node is Unknown, each in time.
        List<Double> late = fleet.nodes().entrySet().stream()
                .filter(node -> node.getKey().startsWith("dying-"))
                .map(Map.Entry::getValue)
                .filter(seen -> seen.ready.equals(Condition.UNKNOWN))
                .map(seen -> (seen.readySince - seen.signal - GRACE.toNanos()) / 1e9)
                .sorted()
                .toList();
        long falsely = fleet.nodes().entrySet().stream()
                .filter(node -> node.getKey().startsWith("living-"))
                .filter(node -> node.getValue().marked > 0)
                .count();
        report.add("""
                | verdict seen beyond the grace | p50 %.0f ms, p99 %.0f ms, max %.0f ms |
                | marked; falsely | %d; %d |
                """.formatted(
                        late.get(late.size() / 2) * 1e3,
                        late.get(late.size() * 99 / 100) * 1e3,
                        late.getLast() * 1e3,
                        late.size(),
                        falsely));
        assertThat(late).hasSize(DYING);
        assertThat(late.getLast()).isLessThan(LATE_AT_MOST);
        assertThat(falsely).isZero();
    }
}
