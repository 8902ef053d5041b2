package io.nodekeeper.cli.tune;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.cli.command.CommandRunner;
import io.nodekeeper.simulator.replay.RecordedChange;
import io.nodekeeper.simulator.replay.RecordingWriter;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The command line of {@code tune}, and what comes of it. */
class TuneProcessTest {
    @TempDir
    Path directory;

    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();
    private final AtomicInteger asked = new AtomicInteger();
    private int most = Integer.MAX_VALUE;

    private int run(String... arguments) {
        TuneCommand command = new TuneCommand(given -> TuneProcess.run(
                given, new PrintWriter(out), new PrintWriter(err), () -> asked.incrementAndGet() > most));
        CommandRunner runner = new CommandRunner(List.of(command), new PrintWriter(out), new PrintWriter(err));
        String[] line = new String[arguments.length + 2];
        line[0] = "tune";
        line[1] = "--quiet";
        System.arraycopy(arguments, 0, line, 2, arguments.length);
        return runner.run(line);
    }

    private JsonObject json() {
        return Json.parseObject(out.toString());
    }

    /** An hour in a second: three nodes of which each fails now and then. */
    private static final String[] SMALL = {"--nodes=3", "--duration=20m", "--crashes-per-hour=60", "--pods=0"};

    private int small(String... arguments) {
        String[] line = Arrays.copyOf(SMALL, SMALL.length + arguments.length);
        System.arraycopy(arguments, 0, line, SMALL.length, arguments.length);
        return run(line);
    }

    @Test
    void aLongerGracePeriodFindsDeadNodesLaterAndFewerThatComeBack() {
        int code = small("--vary", "node-monitor-grace-period=20s,1m30s", "-o", "json");

        assertThat(code).as(err.toString()).isZero();
        List<JsonObject> trials = json().array("trials").objects().toList();
        assertThat(trials)
                .extracting(trial -> trial.text("flags"))
                .containsExactly("--node-monitor-grace-period=20s", "--node-monitor-grace-period=1m30s");
        long soon = trials.get(0).object("figures").number("verdicts").orElseThrow();
        long late = trials.get(1).object("figures").number("verdicts").orElseThrow();
        assertThat(soon).isGreaterThan(late);
        assertThat(trials.get(0)
                        .object("figures")
                        .get("silenceP50Seconds")
                        .orElseThrow()
                        .toString())
                .startsWith("20.0");
        assertThat(trials).allMatch(trial -> trial.number("violations").equals(Optional.of(0L)));
    }

    @Test
    void allCombinationsAreTriedAndFlagsThatAreGivenHoldForAll() {
        int code = small(
                "--vary",
                "detector=fixed,adaptive",
                "--vary=node-lease-duration-seconds=20,40",
                "--node-startup-grace-period=2m",
                "--runs=2");

        assertThat(code).as(err.toString()).isZero();
        assertThat(out.toString())
                .startsWith("3 simulated nodes for 20m0s, 2 runs with seeds from 1, 60 outages of nodes and 0 faults")
                .containsSubsequence(
                        "--detector=fixed --node-lease-duration-seconds=20\n",
                        "--detector=fixed --node-lease-duration-seconds=40\n",
                        "--detector=adaptive --node-lease-duration-seconds=20\n",
                        "--detector=adaptive --node-lease-duration-seconds=40\n");
        // Twice as many renewals.
        assertThat(out.toString()).containsPattern(" 0\\.1[5-9]\\d +--detector=fixed --node-lease-duration-seconds=20");
        assertThat(out.toString()).containsPattern(" 0\\.0[7-9]\\d +--detector=fixed --node-lease-duration-seconds=40");
    }

    @Test
    void aRecordingIsTriedWithEachCandidate() throws IOException {
        Path file = directory.resolve("test.rec");
        Instant begin = Instant.parse("2026-11-30T06:00:00Z");
        try (RecordingWriter writer = new RecordingWriter(Files.newOutputStream(file), begin)) {
            JsonObject node = Json.parseObject("""
                    {"metadata":{"name":"n1","uid":"u"},"status":{"conditions":[{"type":"Ready","status":"True",
                    "lastHeartbeatTime":"2026-11-30T06:00:00Z","lastTransitionTime":"2026-11-30T06:00:00Z"}]}}""");
            writer.write(new RecordedChange.NodeSeen(Duration.ofSeconds(1), node));
            // It pauses for 45 s.
            for (int second : List.of(2, 12, 22, 32, 77, 87, 97)) {
                writer.write(new RecordedChange.Renewed(
                        Duration.ofSeconds(second),
                        "n1",
                        begin.plusSeconds(second).toString()));
            }
            writer.write(new RecordedChange.End(Duration.ofSeconds(100)));
        }

        int code = run("--recording", file.toString(), "--vary=node-monitor-grace-period=40s,50s");

        assertThat(code).as(err.toString()).isZero();
        assertThat(out.toString())
                .startsWith(file + ": 1m40s of 1 nodes, 7 renewals\n")
                .containsPattern("\\* 40\\.0\\d+s +40\\.0\\d+s +1 +1 +- +0.070 +--node-monitor-grace-period=40s\n")
                .containsPattern("\\* - +- +0 +0 +- +0.070 +--node-monitor-grace-period=50s\n");

        // reading it can be interrupted
        out.getBuffer().setLength(0);
        asked.set(0);
        most = 3;
        assertThat(run("--recording", file.toString(), "--vary=node-monitor-grace-period=40s,50s"))
                .isEqualTo(130);
        assertThat(asked).hasValue(4);
        assertThat(out.toString())
                .startsWith(
                        "PARTIAL: interrupted after 0 of 2 candidates\n" + file + ", which was not read to its end\n");
    }

    @Test
    void whatIsInterruptedHasTheCandidatesThatWereTried() {
        most = 1_300;

        int code = small("--vary", "node-monitor-grace-period=20s,30s,40s", "-o", "json");

        assertThat(code).isEqualTo(130);
        assertThat(json().bool("partial")).isTrue();
        assertThat(json().array("trials").objects()).hasSize(1);
    }

    @Test
    void allFaultsOfTheCommandLineAreNamed() {
        int code = run(
                "--vary=nodes=1,2",
                "--vary=node-monitor-grace-period",
                "--vary=node-monitor-grace-period=20s,soon",
                "--vary=node-eviction-rate=1,,2",
                "--vary=detector=fixed,adaptive",
                "--detector=fixed",
                "--vary=detector-min=-1s,5s",
                "--vary=detector-min=5s",
                "--soon=0s");

        assertThat(code).isEqualTo(2);
        assertThat(err.toString())
                .contains("--vary is about --nodes; expected one of --detector, --detector-max, ")
                .contains("--vary is \"node-monitor-grace-period\"; expected FLAG=VALUE,VALUE")
                .contains("Invalid value for option '--node-monitor-grace-period'")
                .contains("--vary is \"node-eviction-rate=1,,2\"; expected FLAG=VALUE,VALUE")
                .contains("--detector has a value and is varied with --vary; expected one of them")
                .contains("--detector-min: must be greater than 0, got -1s")
                .contains("--vary is given twice for --detector-min")
                .contains("--soon is 0s; expected more than 0s");
    }

    @Test
    void tooManyCombinationsAreRefused() {
        String values = "1,2,3,4,5,6,7,8,9,10,11";

        assertThat(run("--vary=flap-penalty=" + values, "--vary=flap-suppress=" + values))
                .isEqualTo(2);

        assertThat(err.toString()).contains("--vary gives 121 combinations; expected at most 100");
    }

    @Test
    void manyMoreCombinationsAreRefusedWithoutMakingThem() {
        String values = String.join(",", Collections.nCopies(2_000, "1"));

        assertThat(run(
                        "--vary=flap-penalty=" + values,
                        "--vary=flap-suppress=" + values,
                        "--vary=flap-reuse=" + values))
                .isEqualTo(2);

        assertThat(err.toString()).contains("--vary gives 8000000000 combinations; expected at most 100");
    }

    @Test
    void aFixedGracePeriodNeedsSomethingToVary() {
        assertThat(run("--node-monitor-grace-period=30s")).isEqualTo(2);

        assertThat(err.toString())
                .isEqualTo(
                        "error: --vary is missing; by default it varies --node-monitor-grace-period, which is given\n"
                                + "See: nodekeeper tune --help\n");
    }

    @Test
    void aRecordingExcludesTheFlagsOfASimulation() throws IOException {
        Path file = Files.createFile(directory.resolve("x.rec"));

        assertThat(run("--recording=" + file, "--nodes=3", "--vary=node-lease-duration-seconds=10,20"))
                .isEqualTo(2);

        assertThat(err.toString())
                .contains("--nodes excludes --recording, which has its nodes and faults")
                .contains("--node-lease-duration-seconds cannot be varied with --recording");
    }
}
