package io.nodekeeper.it;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Isolated;

/**
 * Every way in which a real containerd can hang or fail: a hung container does not harm the node, what hangs is named, and
 * an agent that starts in that time is not delayed. Each fault has a node of its own; many run side by side at one API
 * server. The table of a whole run becomes {@code docs/faults.md}.
 *
 * <p>{@code -Dfaults.only=CNI_ADD,SHIM_STOPPED} runs just those and leaves the document alone.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Isolated("It measures.")
@Tag("long")
class FaultZooIT {
    /** They mostly wait; all need two rounds. */
    private static final int SIDE_BY_SIDE = Integer.getInteger("faults.parallel", 9);

    @TempDir
    static Path directory;

    private final List<CompletableFuture<FaultRow>> runs = new ArrayList<>();
    /** The rows of the table, those that were run again included. */
    private final Map<RuntimeFault, FaultRow> rows = new EnumMap<>(RuntimeFault.class);

    private Running server;
    private ConditionLog conditions;
    private Path kubeconfig;

    @BeforeAll
    void startServer() throws Exception {
        Path data = directory.resolve("data");
        server = Running.startSmall(
                directory, "apiserver", List.of("apiserver", "--data-dir", data.toString(), "--secure-port", "0"));
        server.awaitReady();
        kubeconfig = data.resolve("admin.kubeconfig");
        conditions = new ConditionLog(kubeconfig);
    }

    @TestFactory
    @Tag("A54")
    @Tag("A55")
    @Tag("A75")
    @Tag("A84")
    @Tag("A88")
    @Tag("A89")
    Stream<DynamicTest> aFaultHurtsNobodyElseAndIsNamed() {
        ExecutorService pool = Executors.newFixedThreadPool(SIDE_BY_SIDE);
        List<DynamicTest> tests = new ArrayList<>();
        // Those that make the node NotReady take longer after the agent's restart: they do not stand in line at the
        // end.
        Stream.of(RuntimeFault.values())
                .filter(FaultZooIT::wanted)
                .sorted(Comparator.comparing(fault -> fault.expected().ready()))
                .forEach(fault -> {
                    CompletableFuture<FaultRow> run = run(pool, fault);
                    tests.add(DynamicTest.dynamicTest(
                            fault.text(), () -> checked(fault, run).check()));
                });
        pool.shutdown();
        return tests.stream();
    }

    private static boolean wanted(RuntimeFault fault) {
        String only = System.getProperty("faults.only", "");
        return only.isEmpty() || List.of(only.split(",")).contains(fault.name());
    }

    private CompletableFuture<FaultRow> run(ExecutorService pool, RuntimeFault fault) {
        CompletableFuture<FaultRow> run = CompletableFuture.supplyAsync(() -> run(fault, ""), pool);
        runs.add(run);
        return run;
    }

    private FaultRow run(RuntimeFault fault, String suffix) {
        try {
            return new FaultCase(fault, suffix, conditions).run(directory, kubeconfig);
        } catch (Exception e) {
            throw new IllegalStateException(fault + ": " + e.getMessage(), e);
        }
    }

    /**
     * The row of a fault. Nine nodes on two processors can leave one without a processor for longer than a bound: a fault
     * whose row is not as expected is run again, alone, and then has to be.
     */
    private FaultRow checked(RuntimeFault fault, CompletableFuture<FaultRow> run) {
        boolean good = run.handle((row, error) -> error == null && row.good()).join();
        if (!good) {
            CompletableFuture.allOf(runs.toArray(CompletableFuture[]::new))
                    .exceptionally(error -> null)
                    .join();
        }
        FaultRow row = good ? run.join() : run(fault, "-alone");
        rows.put(fault, row);
        return row;
    }

    @AfterAll
    void writeTable() throws Exception {
        conditions.close();
        server.close();
        if (rows.size() < RuntimeFault.values().length) {
            return;
        }
        StringBuilder table = new StringBuilder();
        rows.values().forEach(row -> table.append(row.cells()));
        Files.writeString(Path.of("..", "docs", "faults.md"), DOCUMENT.formatted(table));
    }

    private static final String DOCUMENT = """
            # Faults of the container runtime

            Written by `FaultZooIT`, which `./test --all` runs; do not edit.

            Each row is a separate environment: containerd with three real pods, and an agent with default periods; nine of them
            run at the same time on one machine with 2 cores, with one API server. Processes are frozen with SIGSTOP, disks are
            separate ext4 file systems, frozen with `fsfreeze`; runc and the CNI plugin hang or fail in a wrapper script. Where
            a fault shows only on a request, the test starts or stops a pod, as a kubelet would. Calls about single containers
            or of single methods hang in a relay in front of containerd's socket. A fault whose row is not as expected is run
            again, alone.

            Times count from the fault, from the agent's start, or from the fault's end. After 50 s of a fault the agent is
            killed and started again; when it has reported what it should, the fault ends.

            * **Ready**: the node's status in the API; one word if it never changed.
            * **Other pods**: the maximum age of the agent's data about a pod without a fault, before the restart; at most
              2 s, except (in brackets) where newer data is not available.
            * **Named**: reason and message of the first correct `RuntimeDegraded` (or `PodNetworkUnavailable`) in the API.
            * **After a restart**: when the new agent had reported the correct Ready and knew the other pods; within 10 s if
              that is True, within a minute if not.
            * **After the end**: when Ready was True, no culprit was named any more, and everything that hung had ended.

            | fault | Ready | other pods | named | after | after a restart | after the end |
            |---|---|---|---|---|---|---|
            %s""";
}
