package io.nodekeeper.cli.simulate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.cli.output.Output;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SimulateProcessTest {
    @TempDir
    Path directory;

    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();
    private final SimulateCommand command = new SimulateCommand(started -> 0);

    SimulateProcessTest() {
        command.nodes = 2;
        command.simulation.duration = Duration.ofHours(10);
        command.progress.quiet = true;
    }

    /** Runs until it has been asked {@code times} whether to end. */
    private int run(int times) throws Exception {
        AtomicInteger asked = new AtomicInteger();
        return SimulateProcess.run(
                command, new PrintWriter(out), new PrintWriter(err), () -> asked.incrementAndGet() > times);
    }

    @Test
    void anInterruptedRunReportsWhatItHasMarkedAsPartialWithItsOwnExitCode() throws Exception {
        command.trace = Optional.of(directory.resolve("trace.txt"));

        int code = run(75);

        assertThat(code).isEqualTo(130);
        assertThat(out.toString())
                .startsWith("PARTIAL: interrupted after 1m15s of 10h0m0s of virtual time\n")
                .contains("2 nodes for 1m15s of virtual time");
        assertThat(err.toString()).isEmpty();
        assertThat(Files.readAllLines(directory.resolve("trace.txt")))
                .last()
                .asString()
                .contains("simulator", "tasks");
    }

    @Test
    void asJsonItIsOneObjectThatSaysSo() throws Exception {
        command.output = Output.json;

        int code = run(60);

        assertThat(code).isEqualTo(130);
        JsonObject report = Json.parseObject(out.toString());
        assertThat(report.bool("partial")).isTrue();
        assertThat(report.bool("good")).isTrue();
    }

    @Test
    void aLeanRunIsInterruptedLikewise() throws Exception {
        command.lean = true;

        int code = run(20);

        assertThat(code).isEqualTo(130);
        assertThat(out.toString()).startsWith("PARTIAL: interrupted after 2s of virtual time\n");
    }

    @Test
    void explorationRunsOneSeedAfterTheOther() throws Exception {
        command.simulation.duration = Duration.ofMinutes(2);
        command.explore = Optional.of(3);
        command.simulation.seed = 7;

        int code = run(Integer.MAX_VALUE);

        assertThat(code).isZero();
        assertThat(out.toString())
                .startsWith("3 of 3 runs of 2 nodes for 2m0s, seeds from 7: took ")
                .endsWith("no rule was broken\n");
    }

    @Test
    void explorationThatIsInterruptedCountsTheRunsThatEnded() throws Exception {
        command.simulation.duration = Duration.ofMinutes(1);
        command.explore = Optional.of(3);
        command.output = Output.json;

        int code = run(100);

        assertThat(code).isEqualTo(130);
        JsonObject report = Json.parseObject(out.toString());
        assertThat(report.number("runs")).contains(1L);
        assertThat(report.bool("partial")).isTrue();
        assertThat(report.has("found")).isFalse();
    }

    @Test
    void aScenarioIsPrintedWithItsTrace() throws Exception {
        Path script = Files.writeString(directory.resolve("s.txt"), "cluster nodes=1 seed=1\nrun 1s\n");
        command.scenario = Optional.of(script);

        assertThat(run(Integer.MAX_VALUE)).isZero();
        assertThat(out.toString())
                .startsWith("cluster nodes=1 seed=1\nrun 1s\n----\n")
                .contains("n0 Node created");

        // What was printed is a scenario that is good, and one that was changed is not.
        Files.writeString(script, out.toString());
        assertThat(run(Integer.MAX_VALUE)).isZero();
        Files.writeString(script, Files.readString(script).replace("Node created", "Node lost"));
        assertThat(run(Integer.MAX_VALUE)).isEqualTo(1);
    }

    @Test
    void aScenarioThatCannotBeRunNamesFileAndLine() throws Exception {
        Path script = Files.writeString(directory.resolve("s.txt"), "cluster nodes=1 seed=1\nexplode n0\n");
        command.scenario = Optional.of(script);

        assertThatThrownBy(() -> run(Integer.MAX_VALUE))
                .hasMessageStartingWith(script + ": line 2: unknown command \"explode\"; expected cluster, run,");
    }
}
