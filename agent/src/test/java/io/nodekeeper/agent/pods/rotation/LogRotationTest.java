package io.nodekeeper.agent.pods.rotation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.nodekeeper.agent.config.ContainerLogConfig;
import io.nodekeeper.agent.pods.AtOnce;
import io.nodekeeper.agent.pods.HeldCalls;
import io.nodekeeper.cri.FakeRuntime;
import io.nodekeeper.cri.RuntimeCallException;
import io.nodekeeper.time.BlockingCalls;
import io.nodekeeper.time.VirtualTime;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.stream.Stream;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Logs of containers that become large, in virtual time. */
class LogRotationTest {
    private static final Duration CALL = Duration.ofMinutes(2);

    @TempDir
    Path directory;

    private final VirtualTime time = new VirtualTime(Instant.parse("2026-01-01T00:00:00Z"));
    private final VirtualTime.VirtualLoop loop = time.loop("agent");
    private final FakeRuntime runtime = new FakeRuntime(loop);
    private Path log;
    private Path other;
    private LogRotation rotation;

    @BeforeEach
    void twoContainers() {
        runtime.pod("u1", "a", "b");
        log = directory.resolve("a/0.log");
        other = directory.resolve("b/0.log");
        rotation = new LogRotation(
                new ContainerLogConfig(10, 3, Duration.ofSeconds(10)),
                runtime,
                CALL,
                () -> List.of(new LogRotation.RunningLog("u1-a", log), new LogRotation.RunningLog("u1-b", other)),
                new AtOnce(),
                new AtOnce(),
                loop);
    }

    @Test
    void shouldRenameALargeLogAndLetTheRuntimeOpenANewOne() throws IOException {
        write(log, "more than ten");
        write(other, "ten or so");

        round();

        assertThat(names(log)).containsExactly("0.log.20260101-000000");
        assertThat(names(other)).containsExactly("0.log");
        assertThat(runtime.calls("ReopenContainerLog")).isEqualTo(1);
    }

    @Test
    void shouldCompressOlderLogsAndKeepAsManyAsAreAllowed() throws IOException {
        write(other, "");
        for (String text : List.of("the first one", "the second one", "the third one")) {
            write(log, text);
            round();
        }
        write(log, "new");

        assertThat(names(log)).containsExactly("0.log", "0.log.20260101-000010.gz", "0.log.20260101-000020");
        try (GZIPInputStream in =
                new GZIPInputStream(Files.newInputStream(log.resolveSibling("0.log.20260101-000010.gz")))) {
            assertThat(new String(in.readAllBytes())).isEqualTo("the second one");
        }
    }

    @Test
    void shouldGiveALogItsNameBackIfTheRuntimeRefuses() throws IOException {
        write(log, "more than ten");
        write(other, "");
        runtime.fail(
                "ReopenContainerLog",
                new RuntimeCallException("ReopenContainerLog", RuntimeCallException.Code.OTHER, "no"));

        round();
        assertThat(names(log)).containsExactly("0.log");

        runtime.heal("ReopenContainerLog");
        round();
        assertThat(names(log)).containsExactly("0.log.20260101-000010");
    }

    @Test
    void shouldDelayNoLogByOneWhoseCallHangs() throws IOException {
        write(log, "more than ten");
        write(other, "more than ten");
        runtime.hang("ReopenContainerLog:u1-a");

        round();
        write(other, "more than ten again");
        round();

        assertThat(names(other)).containsExactly("0.log.20260101-000000.gz", "0.log.20260101-000010");
        assertThat(runtime.calls("ReopenContainerLog")).isEqualTo(3);
        time.advance(CALL);
        assertThat(names(log)).containsExactly("0.log");
    }

    /** A container that writes much is renamed in time, and its log is not touched while a thread still works on older ones. */
    @Test
    void shouldLeaveALogAloneUntilACompressionThatWasGivenUpHasEnded() throws Exception {
        // given a compression that reads from a pipe, so it ends when the pipe does
        HeldCalls compression = new HeldCalls();
        rotation = rotation(compression);
        write(log, "more than ten");
        write(other, "");
        Path pipe = log.resolveSibling("0.log.20251231-000000");
        assertThat(new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor())
                .isZero();
        round();
        assertThat(names(log)).containsExactly("0.log.20251231-000000", "0.log.20260101-000000");
        Thread thread = Thread.ofPlatform().start(compression.work().getFirst());
        try (OutputStream writer = Files.newOutputStream(pipe)) {
            // when its deadline passes
            compression.giveUp();
            time.advance(Duration.ofMillis(1));
            write(log, "more than ten again");
            round();

            // then the log has its name
            assertThat(names(log)).contains("0.log");
            writer.write(1);
        }
        thread.join();

        // until it has ended
        round();
        assertThat(names(log)).doesNotContain("0.log").contains("0.log.20251231-000000.gz", "0.log.20260101-000020");
    }

    @Test
    void shouldRotateOtherLogsWhileOlderOnesAreBeingCompressed() throws IOException {
        HeldCalls compression = new HeldCalls();
        rotation = rotation(compression);
        write(other, "");
        for (int i = 0; i < 2; i++) {
            write(log, "more than ten");
            round();
        }
        assertThat(names(log)).containsExactly("0.log.20260101-000000", "0.log.20260101-000010");

        write(other, "more than ten");
        round();

        assertThat(names(other)).containsExactly("0.log.20260101-000020");
    }

    @Test
    void shouldStopToCompressOnceThatIsGivenUp() throws IOException {
        Path rotated = log.resolveSibling("0.log.20260101-000000");
        write(rotated, "more than ten");

        Thread.currentThread().interrupt();
        try {
            assertThatThrownBy(() -> LogFiles.compress(rotated)).isInstanceOf(InterruptedIOException.class);
        } finally {
            Thread.interrupted();
        }

        assertThat(names(log)).containsExactly("0.log.20260101-000000", "0.log.20260101-000000.tmp");
        assertThat(rotated).hasContent("more than ten");
    }

    private LogRotation rotation(BlockingCalls compression) {
        return new LogRotation(
                new ContainerLogConfig(10, 5, Duration.ofSeconds(10)),
                runtime,
                CALL,
                () -> List.of(new LogRotation.RunningLog("u1-a", log), new LogRotation.RunningLog("u1-b", other)),
                new AtOnce(),
                compression,
                loop);
    }

    @Test
    void shouldLetTheRuntimeOpenALogThatIsMissing() throws IOException {
        write(other, "");

        round();

        assertThat(runtime.calls("ReopenContainerLog")).isEqualTo(1);
    }

    private void round() {
        rotation.tick();
        time.advance(Duration.ofSeconds(10));
    }

    private static void write(Path file, String text) throws IOException {
        Files.createDirectories(file.resolveSibling(""));
        Files.writeString(file, text);
    }

    private static List<String> names(Path file) throws IOException {
        try (Stream<Path> files = Files.list(file.resolveSibling(""))) {
            return files.map(path -> path.getFileName().toString()).sorted().toList();
        }
    }
}
