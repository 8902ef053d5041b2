package io.nodekeeper.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonObject;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A real cluster is recorded, and the replay decides what its own controller decided. */
@Tag("long")
class ReplayIT {
    private static final Duration GRACE = Duration.ofSeconds(10);
    private static final int LIVING = 8;
    private static final int DYING = 3;
    private static final String LEASE = "--node-lease-duration-seconds=8";

    @TempDir
    Path directory;

    @Test
    void deadNodesAreFoundAgainAndAFrozenApiServerBlamesNobody() throws Exception {
        Path data = directory.resolve("data");
        Path file = directory.resolve("cluster.rec");
        try (Running server = Running.start(
                directory, "apiserver", "apiserver", "--data-dir", data.toString(), "--secure-port", "0")) {
            server.awaitReady();
            Path admin = data.resolve("admin.kubeconfig");
            try (Running controller = Running.start(
                            directory,
                            "controller",
                            "controller",
                            "--kubeconfig",
                            data.resolve("controller.kubeconfig").toString(),
                            "--node-monitor-grace-period=" + GRACE.toSeconds() + "s");
                    Running living = Running.hollowSmall(directory, admin, "living-", LIVING, LEASE);
                    Running dying = Running.hollowSmall(directory, admin, "dying-", DYING, LEASE);
                    Fleet fleet = new Fleet(admin)) {
                living.awaitReady();
                dying.awaitReady();
                Eventually.within(Duration.ofSeconds(60), () -> fleet.ready() == LIVING + DYING);

                // Given a recording in which three nodes die, and the API server freezes for longer than the grace
                // period
                try (Running recorder = Running.start(
                        directory,
                        "record",
                        "replay",
                        "record",
                        "--kubeconfig",
                        admin.toString(),
                        "--for",
                        "10m",
                        file.toString())) {
                    Thread.sleep(Duration.ofSeconds(8).toMillis());
                    dying.kill();
                    Eventually.within(GRACE.plusSeconds(20), () -> fleet.ready() == LIVING);
                    // Sight is proven for the time up to a second or two ago.
                    Thread.sleep(Duration.ofSeconds(5).toMillis());
                    server.signal("STOP");
                    Thread.sleep(GRACE.plusSeconds(8).toMillis());
                    server.signal("CONT");
                    Thread.sleep(GRACE.plusSeconds(8).toMillis());
                    assertThat(recorder.terminate()).isEqualTo(143);
                    assertThat(recorder.output())
                            .contains("of " + (LIVING + DYING) + " nodes")
                            .contains("times without sight: 1");
                }
                assertThat(fleet.nodes().values().stream().filter(seen -> seen.marked > 0))
                        .hasSize(DYING);
                assertThat(controller.log()).contains("Node dying-0 is now Unknown");
            }

            // When it is replayed with the same grace period
            JsonObject report = Json.parseObject(
                    nodekeeper("replay", file.toString(), "--node-monitor-grace-period=10s", "--quiet", "-o", "json"));

            // Then the verdicts are the same, and about at the same time
            List<JsonObject> verdicts = report.array("verdicts").objects().toList();
            assertThat(verdicts)
                    .extracting(verdict -> verdict.text("node"))
                    .containsExactlyInAnyOrder("dying-0", "dying-1", "dying-2");
            for (JsonObject verdict : verdicts) {
                assertThat(seconds(verdict, "silenceSeconds"))
                        .as(verdict.toString())
                        .isBetween(10.0, 10.5);
                // The recorded controller ran on a machine that was busy.
                assertThat(seconds(verdict, "recordedSilenceSeconds"))
                        .as(verdict.toString())
                        .isBetween(9.5, 13.0);
            }
            assertThat(report.number("gaps")).contains(1L);
            assertThat(report.bool("cut")).isFalse();

            // And the command for comparisons shows what a shorter grace period would have changed
            JsonObject tuned = Json.parseObject(nodekeeper(
                    "tune",
                    "--recording",
                    file.toString(),
                    "--vary=node-monitor-grace-period=6s,10s",
                    "--quiet",
                    "-o",
                    "json"));
            assertThat(tuned.array("trials")
                            .objects()
                            .map(trial ->
                                    trial.object("figures").number("verdicts").orElse(0L)))
                    .containsExactly(3L, 3L);
        }
    }

    private static double seconds(JsonObject json, String field) {
        return Double.parseDouble(json.get(field).orElseThrow().toString());
    }

    private String nodekeeper(String... arguments) throws Exception {
        try (Running command = Running.start(directory, arguments[0], arguments)) {
            assertThat(command.awaitEnd())
                    .as(List.of(arguments) + ": " + command.log())
                    .isZero();
            return command.output();
        }
    }
}
