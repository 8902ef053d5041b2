package io.nodekeeper.it;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * What an agent costs that watches thirty real pods on a real containerd, minute by minute, started as users start it. Takes
 * ten minutes, so it is not one of the tests: {@code scripts/bench-agent} runs it. {@code -Dagent.minutes=N} and
 * {@code -Dagent.pods=N} make it smaller.
 */
class AgentCostBench {
    private static final int PODS = Integer.getInteger("agent.pods", 30);
    private static final int MINUTES = Integer.getInteger("agent.minutes", 10);
    /** What an agent may cost (docs/performance.md): resident memory, and percent of a core. */
    private static final int BUDGET_MB = 75;

    private static final double BUDGET_PERCENT = 0.5;

    @TempDir
    Path directory;

    @Test
    void thirtyPodsForTenMinutes() throws Exception {
        Path data = directory.resolve("data");
        try (Running server = Running.startSmall(
                directory, "apiserver", List.of("apiserver", "--data-dir", data.toString(), "--secure-port", "0"))) {
            server.awaitReady();
            Path admin = data.resolve("admin.kubeconfig");
            int port = AgentPage.freePort();
            try (ConditionLog conditions = new ConditionLog(admin);
                    Containerd containerd = Containerd.start(directory.resolve("containerd"), false);
                    Pods pods = new Pods(containerd)) {
                pods.runMany("pod", PODS);
                try (Running agent = Running.byScript(
                        directory,
                        "agent",
                        "agent",
                        "--kubeconfig",
                        admin.toString(),
                        "--node-name",
                        "measured",
                        "--root-dir",
                        directory.toString(),
                        "--healthz-port=" + port,
                        "--container-runtime-endpoint=" + containerd.endpoint())) {
                    AgentPage page = new AgentPage(port);
                    Eventually.within(
                            Duration.ofSeconds(120),
                            () -> conditions.is("measured", "Ready", "True")
                                    && page.pods().size() == PODS);
                    measure(agent.pid(), containerd.pid());
                }
            }
        }
    }

    private static void measure(long agent, long containerd) throws Exception {
        StringBuilder table = new StringBuilder("""

                | minute | agent: resident | of it no files | processor | threads | files | containerd: processor |
                |---|---|---|---|---|---|---|
                """);
        double begin = ProcessFacts.cpuSeconds(agent);
        long resident = 0;
        for (int minute = 1; minute <= MINUTES; minute++) {
            double cpu = ProcessFacts.cpuSeconds(agent);
            double others = ProcessFacts.cpuSeconds(containerd);
            Thread.sleep(60_000);
            resident = Math.max(resident, ProcessFacts.residentKb(agent));
            table.append(String.format(
                    Locale.ROOT,
                    "| %d | %.1f MB | %.1f MB | %.2f %% | %d | %d | %.2f %% |%n",
                    minute,
                    ProcessFacts.residentKb(agent) / 1024.0,
                    ProcessFacts.anonymousKb(agent) / 1024.0,
                    (ProcessFacts.cpuSeconds(agent) - cpu) / 60 * 100,
                    count(agent, "task"),
                    count(agent, "fd"),
                    (ProcessFacts.cpuSeconds(containerd) - others) / 60 * 100));
        }
        double percent = (ProcessFacts.cpuSeconds(agent) - begin) / 60 / MINUTES * 100;
        System.out.println(table);
        System.out.printf(
                "%d pods, %d min: at most %.1f MB resident, %.2f %% of a core%n",
                PODS, MINUTES, resident / 1024.0, percent);
        System.out.printf(
                "of the budget (%d MB, %.1f %%): %.2f and %.2f%n",
                BUDGET_MB, BUDGET_PERCENT, resident / 1024.0 / BUDGET_MB, percent / BUDGET_PERCENT);
    }

    private static int count(long pid, String what) throws Exception {
        return Leftovers.children(Path.of("/proc", Long.toString(pid), what)).size();
    }
}
