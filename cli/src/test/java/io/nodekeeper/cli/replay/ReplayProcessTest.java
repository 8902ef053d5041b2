package io.nodekeeper.cli.replay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.cli.output.Output;
import io.nodekeeper.simulator.replay.RecordedChange;
import io.nodekeeper.simulator.replay.RecordingWriter;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ReplayProcessTest {
    private static final Instant BEGIN = Instant.parse("2026-11-30T06:00:00Z");

    @TempDir
    Path directory;

    private final StringWriter out = new StringWriter();
    private final ReplayCommand command = new ReplayCommand(started -> 0, new RecordCommand(started -> 0));

    @BeforeEach
    void aRecordingOfANodeThatDies() throws IOException {
        Path file = directory.resolve("test.rec");
        command.file = Optional.of(file);
        command.progress.quiet = true;
        try (RecordingWriter writer = new RecordingWriter(Files.newOutputStream(file), BEGIN)) {
            JsonObject node = Json.parseObject("""
                    {"metadata":{"name":"n1","uid":"u"},"status":{"conditions":[{"type":"Ready","status":"True",
                    "lastHeartbeatTime":"2026-11-30T06:00:00Z","lastTransitionTime":"2026-11-30T06:00:00Z"}]}}""");
            writer.write(new RecordedChange.NodeSeen(Duration.ofSeconds(1), node));
            for (int second = 2; second <= 62; second += 10) {
                writer.write(new RecordedChange.Renewed(
                        Duration.ofSeconds(second),
                        "n1",
                        BEGIN.plusSeconds(second).toString()));
            }
            writer.write(new RecordedChange.End(Duration.ofSeconds(180)));
        }
    }

    private int run(boolean ended) throws IOException {
        return ReplayProcess.run(command, new PrintWriter(out), new PrintWriter(new StringWriter()), () -> ended);
    }

    @Test
    void aTableNamesTheNodeItsSilenceAndWhenItCameBack() throws IOException {
        assertThat(run(false)).isZero();

        assertThat(out.toString())
                .startsWith("recording      " + directory + "/test.rec, 3m0s from 2026-11-30 06:00:00 on, 1 nodes, 7"
                        + " renewals\n")
                .contains("verdicts       1                0\n")
                .containsPattern("2026-11-30 06:01:52\\.\\d+ +n1 +50\\.0\\d+s +no verdict +none in the recording\n");
    }

    @Test
    void theFlagsOfAControllerApply() throws IOException {
        command.judgement.gracePeriod = Duration.ofSeconds(30);
        command.output = Output.json;

        assertThat(run(false)).isZero();

        JsonObject report = Json.parseObject(out.toString());
        assertThat(report.array("verdicts").objects())
                .singleElement()
                .satisfies(verdict -> assertThat(verdict.text("time")).startsWith("2026-11-30T06:01:32."));
        assertThat(report.object("replayed").number("verdicts")).contains(1L);
    }

    @Test
    void anInterruptedReplaySaysSoWithItsOwnExitCode() throws IOException {
        // The recording has 9 changes, which are read before the first one is replayed.
        AtomicInteger asked = new AtomicInteger();

        int code = ReplayProcess.run(
                command, new PrintWriter(out), new PrintWriter(new StringWriter()), () -> asked.incrementAndGet() > 9);

        assertThat(code).isEqualTo(130);
        assertThat(out.toString()).startsWith("PARTIAL: interrupted after 0s of 3m0s\n");
    }

    @Test
    void readingTheRecordingCanBeInterrupted() throws IOException {
        assertThat(run(true)).isEqualTo(130);
        assertThat(out.toString()).isEqualTo("PARTIAL: interrupted while it read the recording\n");

        out.getBuffer().setLength(0);
        command.output = Output.json;
        assertThat(run(true)).isEqualTo(130);
        assertThat(Json.parseObject(out.toString()).bool("partial")).isTrue();
    }

    @Test
    void anotherFileIsAnError() throws IOException {
        Files.writeString(directory.resolve("test.rec"), "no recording");

        assertThatThrownBy(() -> run(false)).isInstanceOf(IOException.class).hasMessageContaining("is not a recording");
        assertThat(out.toString()).isEmpty();
    }
}
