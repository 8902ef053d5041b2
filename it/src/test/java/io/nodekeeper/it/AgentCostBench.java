package io.nodekeeper.it;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * What an agent that watches real pods on a real containerd costs, minute by minute, started as users start it; and what it
 * costs while faults of some pods last. Takes ten minutes, so it is not one of the tests: {@code scripts/bench-agent} runs it.
 * {@code -Dagent.minutes=N}, {@code -Dagent.pods=N} and {@code -Dagent.faults=N} change its size; {@code -Dagent.before=DIR},
 * a checkout of another version that has been built, compares two agents that watch the same pods at the same time.
 */
class AgentCostBench {
    private static final int PODS = Integer.getInteger("agent.pods", 30);
    private static final int MINUTES = Integer.getInteger("agent.minutes", 10);
    private static final int FAULTS = Integer.getInteger("agent.faults", 0);
    private static final String BEFORE = System.getProperty("agent.before", "");
    /** What an agent may cost (docs/performance.md): resident memory, and percent of a core. */
    private static final int BUDGET_MB = 75;

    private static final double BUDGET_PERCENT = 0.5;
    /** A new agent is quiet after its first looks. */
    private static final Duration WARM = Duration.ofSeconds(30);

    @TempDir
    Path directory;

    private final BenchReport report = new BenchReport();

    /** An agent that is measured. */
    private record Measured(String name, Running process, AgentPage page) {
        long pid() {
            return process.pid();
        }
    }

    @Test
    void anAgentCalmAndWithFaults() throws Exception {
        report.now(PODS + " pods start");
        Path data = directory.resolve("data");
        try (Running server = Running.startSmall(
                directory, "apiserver", List.of("apiserver", "--data-dir", data.toString(), "--secure-port", "0"))) {
            server.awaitReady();
            Path admin = data.resolve("admin.kubeconfig");
            try (ConditionLog conditions = new ConditionLog(admin);
                    Containerd containerd = Containerd.start(directory.resolve("containerd"), false);
                    Pods pods = new Pods(containerd)) {
                List<Pods.RealPod> running = pods.runMany("pod", PODS);
                List<Measured> agents = new ArrayList<>();
                try {
                    if (!BEFORE.isEmpty()) {
                        agents.add(agent("before", Path.of(BEFORE), admin, containerd));
                    }
                    agents.add(agent(
                            "now", Path.of(System.getProperty("nodekeeper.dist"), "../../.."), admin, containerd));
                    Eventually.within(
                            Duration.ofSeconds(180),
                            () -> agents.stream()
                                    .allMatch(agent -> conditions.is(agent.name, "Ready", "True")
                                            && agent.page.pods().size() == PODS));
                    Thread.sleep(WARM.toMillis());
                    measure("calm", agents, containerd.pid());
                    if (FAULTS > 0) {
                        withFaults(agents, containerd, running.subList(0, FAULTS));
                    }
                } finally {
                    for (Measured agent : agents) {
                        agent.process.close();
                    }
                }
            }
        }
    }

    private Measured agent(String name, Path checkout, Path admin, Containerd containerd) throws Exception {
        int port = AgentPage.freePort();
        Running process = Running.byScriptOf(
                checkout,
                directory,
                "agent-" + name,
                "agent",
                "--kubeconfig",
                admin.toString(),
                "--node-name",
                name,
                "--root-dir",
                Files.createDirectories(directory.resolve("root-" + name)).toString(),
                "--healthz-port=" + port,
                "--container-runtime-endpoint=" + containerd.endpoint());
        return new Measured(name, process, new AgentPage(port));
    }

    /** The shims of these pods are stopped: each agent asks for them, waits, and looks for the cause. */
    private void withFaults(List<Measured> agents, Containerd containerd, List<Pods.RealPod> struck) throws Exception {
        List<Long> shims = new ArrayList<>();
        for (Pods.RealPod pod : struck) {
            shims.add(containerd.shim(pod.sandbox()));
        }
        try {
            for (long shim : shims) {
                Command.signal(shim, "STOP");
            }
            Thread.sleep(WARM.toMillis());
            measure(FAULTS + " shims stopped", agents, containerd.pid());
        } finally {
            for (long shim : shims) {
                Command.signal(shim, "CONT");
            }
        }
    }

    private void measure(String phase, List<Measured> agents, long containerd) throws Exception {
        report.add("""

                | minute | agent | resident | of it no files | processor | threads | files | containerd: processor |
                |---|---|---|---|---|---|---|---|
                """);
        double[] begin = processor(agents);
        long[] resident = new long[agents.size()];
        for (int minute = 1; minute <= MINUTES; minute++) {
            report.now(phase + ", minute " + minute + " of " + MINUTES);
            double[] before = processor(agents);
            double others = ProcessFacts.cpuSeconds(containerd);
            Thread.sleep(60_000);
            double[] after = processor(agents);
            others = ProcessFacts.cpuSeconds(containerd) - others;
            for (int i = 0; i < agents.size(); i++) {
                long pid = agents.get(i).pid();
                resident[i] = Math.max(resident[i], ProcessFacts.residentKb(pid));
                report.add(String.format(
                        Locale.ROOT,
                        "| %d | %s | %.1f MB | %.1f MB | %.2f %% | %d | %d | %.2f %% |%n",
                        minute,
                        agents.get(i).name,
                        ProcessFacts.residentKb(pid) / 1024.0,
                        ProcessFacts.anonymousKb(pid) / 1024.0,
                        (after[i] - before[i]) / 60 * 100,
                        count(pid, "task"),
                        count(pid, "fd"),
                        others / 60 * 100));
            }
        }
        report.add("\n");
        double[] end = processor(agents);
        for (int i = 0; i < agents.size(); i++) {
            double percent = (end[i] - begin[i]) / 60 / MINUTES * 100;
            report.add(("%s, %s: %d pods, %d min: at most %.1f MB resident, %.2f %% of a core"
                            + " (of the budget of %d MB, %.1f %%: %.2f and %.2f)%n")
                    .formatted(
                            phase,
                            agents.get(i).name,
                            PODS,
                            MINUTES,
                            resident[i] / 1024.0,
                            percent,
                            BUDGET_MB,
                            BUDGET_PERCENT,
                            resident[i] / 1024.0 / BUDGET_MB,
                            percent / BUDGET_PERCENT));
        }
    }

    private static double[] processor(List<Measured> agents) throws Exception {
        double[] seconds = new double[agents.size()];
        for (int i = 0; i < seconds.length; i++) {
            seconds[i] = ProcessFacts.cpuSeconds(agents.get(i).pid());
        }
        return seconds;
    }

    private static int count(long pid, String what) throws Exception {
        return Leftovers.children(Path.of("/proc", Long.toString(pid), what)).size();
    }
}
