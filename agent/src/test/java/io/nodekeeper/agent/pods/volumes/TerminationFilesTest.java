package io.nodekeeper.agent.pods.volumes;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.agent.pods.containers.PodLabels;
import io.nodekeeper.cri.ContainerState;
import io.nodekeeper.cri.ContainerStatus;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Messages of containers about their ends. */
class TerminationFilesTest {
    @TempDir
    Path directory;

    private Path file;
    private Path log;

    @BeforeEach
    void files() throws IOException {
        file = Files.createFile(directory.resolve("end"));
        log = Files.writeString(directory.resolve("0.log"), """
                2026-01-01T00:00:00Z stdout F one
                2026-01-01T00:00:01Z stderr F two
                """);
    }

    @Test
    void shouldReadWhatTheContainerWrote() throws IOException {
        Files.writeString(file, "no space left");

        assertThat(message("File", 1)).isEqualTo("no space left");
        assertThat(message("FallbackToLogsOnError", 1)).isEqualTo("no space left");
    }

    @Test
    void shouldTakeTheLastFourKilobytesOfTheFile() throws IOException {
        Files.writeString(file, "x".repeat(5_000) + "end");

        assertThat(message("File", 0)).hasSize(4_096).endsWith("xend");
    }

    @Test
    void shouldTakeTheLogOnlyOfAFailedContainerThatWroteNothing() {
        assertThat(message("FallbackToLogsOnError", 1)).isEqualTo("one\ntwo\n");
        assertThat(message("FallbackToLogsOnError", 0)).isEmpty();
        assertThat(message("File", 1)).isEmpty();
    }

    @Test
    void shouldTakeTheLastEightyLinesAndTwoKilobytesOfTheLog() throws IOException {
        Files.writeString(log, lines(100, "line "));
        assertThat(message("FallbackToLogsOnError", 1)).startsWith("line 20\n").endsWith("line 99\n");

        Files.writeString(log, lines(80, "a line of more than twenty-five characters "));
        assertThat(message("FallbackToLogsOnError", 1)).hasSize(2_048).endsWith("characters 79\n");
    }

    @Test
    void shouldFollowNoLinkOutOfThePodsDirectory() throws IOException {
        Path secret = Files.writeString(directory.resolve("secret"), "of the node");
        Files.delete(file);
        Files.createSymbolicLink(file, secret);

        assertThat(message("File", 1))
                .startsWith("Error on reading termination log " + file)
                .doesNotContain("of the node");
    }

    @Test
    void shouldSayThatThereIsNoLog() throws IOException {
        Files.delete(log);

        assertThat(message("FallbackToLogsOnError", 1)).startsWith("Error on reading termination message from logs: ");
    }

    private static String lines(int count, String text) {
        return IntStream.range(0, count)
                .mapToObj(i -> "2026-01-01T00:00:00Z stdout F " + text + i + "\n")
                .collect(Collectors.joining());
    }

    private String message(String policy, int exitCode) {
        ContainerStatus.Origin origin = new ContainerStatus.Origin(
                0, 0, "", "", Map.of(PodLabels.MESSAGE_PATH, "/dev/termination-log", PodLabels.MESSAGE_POLICY, policy));
        ContainerStatus container =
                new ContainerStatus("c1", "app", ContainerState.EXITED, 1, 2, exitCode, "Error", "", origin);
        return TerminationFiles.message(container, file, log);
    }
}
