package io.nodekeeper.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonObject;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import java.util.zip.GZIPInputStream;
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
                    Eventually.within(Duration.ofSeconds(60), () -> isRecorded(file));
                    // Each node renews every 2 s.
                    Thread.sleep(Duration.ofSeconds(3).toMillis());
                    dying.kill();
                    Eventually.within(GRACE.plusSeconds(20), () -> fleet.ready() == LIVING);
                    // Sight is proven for the time up to a second or two ago.
                    Thread.sleep(Duration.ofSeconds(5).toMillis());
                    server.signal("STOP");
                    Thread.sleep(GRACE.plusSeconds(8).toMillis());
                    server.signal("CONT");
                    long thawed = System.nanoTime();
                    Eventually.within(
                            Duration.ofSeconds(60),
                            () -> fleet.nodes().values().stream()
                                            .filter(seen -> seen.renewal > thawed)
                                            .count()
                                    == LIVING);
                    // A node that is blamed by mistake is blamed within the grace.
                    Thread.sleep(GRACE.toMillis());
                    assertThat(recorder.terminate()).isEqualTo(143);
                    assertThat(recorder.output())
                            .contains("of " + (LIVING + DYING) + " nodes")
                            // A long pause of the machine is one more.
                            .containsPattern("times without sight: [1-9]");
                }
                assertThat(fleet.nodes().values().stream().filter(seen -> seen.marked > 0))
                        .hasSize(DYING);
                assertThat(controller.log()).contains("Node dying-0 is now Unknown");
            }

            // When it is replayed with the same grace period
            JsonObject report = Json.parseObject(
                    nodekeeper("replay", file.toString(), "--node-monitor-grace-period=10s", "--quiet", "-o", "json"));

            // Then the verdicts are the same, and about at the same time
            long gaps = report.number("gaps").orElse(0L);
            assertThat(gaps).isPositive();
            List<JsonObject> verdicts = report.array("verdicts").objects().toList();
            assertThat(verdicts)
                    .extracting(verdict -> verdict.text("node"))
                    .containsExactlyInAnyOrder("dying-0", "dying-1", "dying-2");
            for (JsonObject verdict : verdicts) {
                // A gap's time is given back to the nodes; that of the frozen API server came after these verdicts.
                assertThat(seconds(verdict, "silenceSeconds"))
                        .as(verdict.toString())
                        .isBetween(10.0, gaps == 1 ? 10.5 : 20.0);
                // The recorded controller ran on a machine that was busy.
                assertThat(seconds(verdict, "recordedSilenceSeconds"))
                        .as(verdict.toString())
                        .isBetween(8.0, 20.0);
            }
            assertThat(report.bool("cut")).isFalse();

            // And the command for comparisons shows what a shorter grace period would have changed
            JsonObject tuned = Json.parseObject(nodekeeper(
                    "tune",
                    "--recording",
                    file.toString(),
                    "--vary=node-monitor-grace-period=8s,10s",
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

    /** Whether the recording has all nodes and a renewal of each. */
    private static boolean isRecorded(Path file) throws IOException {
        String recorded = recorded(file);
        return Stream.concat(
                        IntStream.range(0, LIVING).mapToObj(i -> "living-" + i),
                        IntStream.range(0, DYING).mapToObj(i -> "dying-" + i))
                .allMatch(name -> recorded.contains("\"name\":\"" + name + "\"")
                        && recorded.contains("\"lease\":\"" + name + "\""));
    }

    /** What the recorder has written so far. */
    private static String recorded(Path file) throws IOException {
        if (!Files.exists(file)) {
            return "";
        }
        ByteArrayOutputStream text = new ByteArrayOutputStream();
        try (InputStream compressed = Files.newInputStream(file);
                InputStream in = new GZIPInputStream(compressed)) {
            in.transferTo(text);
        } catch (EOFException e) {
            // More follows.
        }
        return text.toString(StandardCharsets.UTF_8);
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
