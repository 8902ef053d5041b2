package io.nodekeeper.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.api.Condition;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Restarts of the control plane harm no node, and dead nodes are still found. */
@Tag("long")
@Order(4)
class RestartIT {
    private static final Duration GRACE = Duration.ofSeconds(6);
    private static final String[] HEARTBEAT = {"--node-lease-duration-seconds=4", "--node-status-update-frequency=2s"};

    @TempDir
    Path directory;

    @Test
    @Tag("L22")
    void restartsOfServerAndControllerBlameNobodyAndADeadNodeIsStillFound() throws Exception {
        // Given twenty nodes, of which ten live on.
        Path data = directory.resolve("data");
        Running server = server(data, "0");
        String port = Integer.toString(URI.create(server.awaitAddress()).getPort());
        Path admin = data.resolve("admin.kubeconfig");
        Running controller = controller(data);
        try (Running living = Running.hollowSmall(directory, admin, "living-", 10, HEARTBEAT);
                Running dying = Running.hollowSmall(directory, admin, "dying-", 10, HEARTBEAT);
                Fleet fleet = new Fleet(admin)) {
            living.awaitReady();
            dying.awaitReady();
            Eventually.within(Duration.ofSeconds(30), () -> fleet.ready() == 20);

            // When the server is killed and started again, and then the controller.
            server.kill();
            server = server(data, port);
            server.awaitReady();
            Thread.sleep(2 * GRACE.toMillis());
            controller.kill();
            dying.kill();
            controller = controller(data);

            // Then only the dead are marked, a grace after the new controller came at the latest.
            Eventually.within(
                    GRACE.plusSeconds(20),
                    () -> fleet.nodes().entrySet().stream()
                                    .filter(node -> node.getKey().startsWith("dying-"))
                                    .filter(node -> node.getValue().ready.equals(Condition.UNKNOWN))
                                    .count()
                            == 10);
            Thread.sleep(GRACE.toMillis());
            assertThat(fleet.nodes().entrySet())
                    .filteredOn(node -> node.getKey().startsWith("living-"))
                    .hasSize(10)
                    .allMatch(node ->
                            node.getValue().marked == 0 && node.getValue().ready.equals(Condition.TRUE));
        } finally {
            controller.close();
            server.close();
        }
    }

    private Running server(Path data, String port) throws Exception {
        return Running.start(directory, "apiserver", "apiserver", "--data-dir", data.toString(), "--secure-port", port);
    }

    private Running controller(Path data) throws Exception {
        return Running.start(
                directory,
                "controller",
                "controller",
                "--kubeconfig",
                data.resolve("controller.kubeconfig").toString(),
                // Alone: the next one need not wait until the lease of the killed one is over.
                "--leader-elect=false",
                "--node-monitor-grace-period=" + GRACE.toSeconds() + "s");
    }
}
