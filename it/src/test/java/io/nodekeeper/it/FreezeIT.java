package io.nodekeeper.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.api.Condition;
import io.nodekeeper.api.Node;
import io.nodekeeper.api.ResourceType;
import io.nodekeeper.api.Taint;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Isolated;

/** A frozen agent is found on time, and is Ready again after it thawed. */
@Isolated("It measures.")
@Tag("long")
class FreezeIT {
    private static final Duration WARM_UP = Duration.ofSeconds(10);
    /** Agents that are frozen in parallel, each at its own times: a freeze is a wait of seconds. */
    private static final int AGENTS = 4;
    /** How often each of them is frozen. */
    private static final int TIMES = 5;

    private static final Duration STATUS_PERIOD = Duration.ofMillis(10_400);
    /** In which everything comes to pass on a busy machine, too; the bounds for times are below. */
    private static final Duration SOON = Duration.ofSeconds(30);

    @TempDir
    Path directory;

    private final List<Double> delays = Collections.synchronizedList(new ArrayList<>());
    private final List<Double> silences = Collections.synchronizedList(new ArrayList<>());
    private final List<Double> returns = Collections.synchronizedList(new ArrayList<>());
    private final Deque<AutoCloseable> parts = new ArrayDeque<>();

    @AfterEach
    void close() throws Exception {
        while (!parts.isEmpty()) {
            parts.pop().close();
        }
    }

    @Test
    void aFrozenAgentIsUnknownWithinItsGraceAndReadyAgainAfterOneStatusPeriod() throws Exception {
        // Given an API server, a controller with a grace of 4 s and agents that renew each second.
        Path data = directory.resolve("data");
        Running server = opened(Running.start(
                directory, "apiserver", "apiserver", "--data-dir", data.toString(), "--secure-port", "0"));
        String address = server.awaitAddress();
        Running controller = opened(Running.start(
                directory,
                "controller",
                "controller",
                "--kubeconfig",
                data.resolve("controller.kubeconfig").toString(),
                "--node-monitor-grace-period=4s",
                // A node that is frozen several times would be damped.
                "--feature-gates=FlapDamping=false"));
        Map<String, Running> agents = new TreeMap<>();
        for (int number = 1; number <= AGENTS; number++) {
            String node = "n" + number;
            agents.put(node, agent(data, address, node));
        }
        Fleet fleet = opened(new Fleet(data.resolve("admin.kubeconfig")));
        // The first seconds, in which everything is compiled, are not measured.
        Thread.sleep(WARM_UP.toMillis());

        // When each is frozen and let go on several times.
        try (ExecutorService threads = Executors.newFixedThreadPool(AGENTS)) {
            List<Callable<Void>> loops = new ArrayList<>();
            agents.forEach((node, agent) -> loops.add(() -> {
                freezeAndThaw(fleet, controller, node, agent);
                return null;
            }));
            for (Future<Void> loop : threads.invokeAll(loops)) {
                loop.get();
            }
        }

        // Then each freeze was noticed on time, and each return.
        String log = controller.log();
        assertThat(agents.keySet())
                .allSatisfy(node -> assertThat(log).contains("Node " + node + " is now Unknown: last signal lease"));
        System.out.println("freeze: Unknown after the last renewal [s]: " + delays);
        System.out.println("freeze: Ready after SIGCONT [s]: " + returns);
        assertThat(silences)
                .hasSize(AGENTS * TIMES)
                .allSatisfy(silence -> assertThat(silence).isGreaterThanOrEqualTo(4.0));
        // Another process may have the machine, or the disk, for seconds; looks every 5 s would have a median of 6.5 s.
        assertThat(median(delays)).isLessThan(5.0);
        assertThat(delays).allSatisfy(delay -> assertThat(delay).isLessThanOrEqualTo(12.0));
        assertThat(delays.stream().filter(delay -> delay <= 6.0)).hasSizeGreaterThanOrEqualTo(AGENTS * TIMES * 9 / 10);
        // An agent that looks before its watch told it that it is Unknown has nothing to report until the next period.
        assertThat(median(returns)).isLessThan(12.0);
        assertThat(returns).allSatisfy(delay -> assertThat(delay).isLessThan(2 * STATUS_PERIOD.toMillis() / 1e3));
    }

    private static double median(List<Double> times) {
        return times.stream().sorted().skip(times.size() / 2).findFirst().orElseThrow();
    }

    private Running agent(Path data, String address, String node) throws Exception {
        Path kubeconfig = data.resolve("agent-" + node + ".kubeconfig");
        Running certs = opened(Running.start(
                directory, "certs", "certs", "--data-dir", data.toString(), "--node", node, "--server", address));
        assertThat(certs.awaitEnd()).isZero();
        return opened(Running.start(
                directory,
                "agent-" + node,
                "agent",
                "--kubeconfig",
                kubeconfig.toString(),
                "--node-name=" + node,
                "--healthz-port=0",
                "--root-dir=" + directory.resolve("root-" + node),
                "--node-lease-duration-seconds=4"));
    }

    private void freezeAndThaw(Fleet fleet, Running controller, String node, Running agent) throws Exception {
        Fleet.Seen seen = fleet.node(node);
        int measured = 0;
        // A round in which the controller was blind is repeated. On a busy machine that may be most of them.
        for (int time = 0; measured < TIMES && time < 6 * TIMES; time++) {
            long blind = blindness(controller);
            Eventually.within(SOON, () -> seen.ready.equals(Condition.TRUE));

            // When it is stopped right after a renewal.
            long before = seen.renewal;
            Eventually.within(SOON, () -> seen.renewal != before);
            agent.signal("STOP");
            Eventually.within(SOON, () -> seen.ready.equals(Condition.UNKNOWN));

            // Then it is Unknown once the grace is over, and tainted.
            double delay = (seen.readySince - seen.signal) / 1e9;
            double silence = (seen.readySince - seen.made) / 1e9;
            Eventually.within(SOON, () -> read(fleet, node).hasTaint(Taint.UNREACHABLE, Taint.NO_SCHEDULE));

            // And when it goes on, it is Ready, and the taint goes.
            long continued = System.nanoTime();
            agent.signal("CONT");
            Eventually.within(SOON, () -> seen.ready.equals(Condition.TRUE));
            // Time in which a loaded machine left the controller no sight is given back, not measured.
            if (blindness(controller) == blind) {
                measured++;
                delays.add(delay);
                silences.add(silence);
                returns.add((seen.readySince - continued) / 1e9);
            }
            Eventually.within(SOON, () -> !read(fleet, node).hasTaint(Taint.UNREACHABLE, Taint.NO_SCHEDULE));
        }
    }

    private static long blindness(Running controller) throws Exception {
        return controller
                .log()
                .lines()
                .filter(line -> line.contains("has sight again"))
                .count();
    }

    private static Node read(Fleet fleet, String node) throws Exception {
        return new Node(Fleet.await(fleet.client().get(ResourceType.NODES, "", node)));
    }

    private <T extends AutoCloseable> T opened(T part) {
        parts.push(part);
        return part;
    }
}
