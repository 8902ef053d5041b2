package io.nodekeeper.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.api.Condition;
import io.nodekeeper.api.Node;
import io.nodekeeper.api.ResourceType;
import io.nodekeeper.api.Taint;
import io.nodekeeper.api.json.JsonObject;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Isolated;

/** An agent that is frozen is noticed on time, and welcomed back. */
@Isolated("It measures.")
@Tag("long")
class FreezeIT {
    private static final Duration WARM_UP = Duration.ofSeconds(10);
    private static final int TIMES = 20;
    private static final Duration STATUS_PERIOD = Duration.ofMillis(10_400);

    @TempDir
    Path directory;

    @Test
    void aFrozenAgentIsUnknownWithinItsGraceAndReadyAgainAfterOneStatusPeriod() throws Exception {
        // Given an API server, a controller with a grace of 4 s and an agent that renews each second.
        Path data = directory.resolve("data");
        List<Double> delays = new ArrayList<>();
        List<Double> returns = new ArrayList<>();
        try (Running server = Running.start(
                directory, "apiserver", "apiserver", "--data-dir", data.toString(), "--secure-port", "0")) {
            String address = server.awaitAddress();
            try (Running certs = Running.start(
                    directory, "certs", "certs", "--data-dir", data.toString(), "--node", "n1", "--server", address)) {
                Eventually.within(
                        Duration.ofSeconds(20),
                        () -> data.resolve("agent-n1.kubeconfig").toFile().exists());
                try (Running controller = Running.start(
                                directory,
                                "controller",
                                "controller",
                                "--kubeconfig",
                                data.resolve("controller.kubeconfig").toString(),
                                "--node-monitor-grace-period=4s",
                                // A node that is frozen twenty times would be damped.
                                "--feature-gates=FlapDamping=false");
                        Running agent = Running.start(
                                directory,
                                "agent",
                                "agent",
                                "--kubeconfig",
                                data.resolve("agent-n1.kubeconfig").toString(),
                                "--node-name=n1",
                                "--node-lease-duration-seconds=4");
                        Fleet fleet = new Fleet(data.resolve("admin.kubeconfig"))) {
                    Fleet.Seen seen = fleet.node("n1");
                    // The first seconds, in which everything is compiled, are not measured.
                    Thread.sleep(WARM_UP.toMillis());
                    for (int time = 0; delays.size() < TIMES && time < 2 * TIMES; time++) {
                        long blind = blindness(controller);
                        Eventually.within(Duration.ofSeconds(30), () -> seen.ready.equals(Condition.TRUE));

                        // When it is stopped right after a renewal.
                        long before = seen.renewal;
                        Eventually.within(Duration.ofSeconds(5), () -> seen.renewal != before);
                        agent.signal("STOP");
                        Eventually.within(Duration.ofSeconds(10), () -> seen.ready.equals(Condition.UNKNOWN));

                        // Then it is Unknown once the grace is over, and tainted.
                        double delay = (seen.readySince - seen.signal) / 1e9;
                        Eventually.within(
                                Duration.ofSeconds(1),
                                () -> read(fleet).hasTaint(Taint.UNREACHABLE, Taint.NO_SCHEDULE));

                        // And when it goes on, it is Ready within a status period, and the taint goes.
                        long continued = System.nanoTime();
                        agent.signal("CONT");
                        Eventually.within(STATUS_PERIOD.plusSeconds(1), () -> seen.ready.equals(Condition.TRUE));
                        // Time in which a loaded machine left the controller no sight is given back, not measured.
                        if (blindness(controller) == blind) {
                            delays.add(delay);
                            returns.add((seen.readySince - continued) / 1e9);
                        }
                        Eventually.within(
                                Duration.ofSeconds(1),
                                () -> !read(fleet).hasTaint(Taint.UNREACHABLE, Taint.NO_SCHEDULE));
                    }
                    assertThat(controller.log()).contains("Node n1 is now Unknown: last signal lease");
                }
            }
        }
        System.out.println("freeze: Unknown after the last renewal [s]: " + delays);
        System.out.println("freeze: Ready after SIGCONT [s]: " + returns);
        assertThat(delays).hasSize(TIMES).allSatisfy(delay -> assertThat(delay).isBetween(4.0, 4.3));
        assertThat(returns).allSatisfy(delay -> assertThat(delay).isLessThan(STATUS_PERIOD.toMillis() / 1e3));
    }

    private static long blindness(Running controller) throws Exception {
        return controller
                .log()
                .lines()
                .filter(line -> line.contains("has sight again"))
                .count();
    }

    private static Node read(Fleet fleet) throws Exception {
        JsonObject node = Fleet.await(fleet.client().get(ResourceType.NODES, "", "n1"));
        return new Node(node);
    }
}
