package io.nodekeeper.cli.replay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

class RecordProcessTest {
    @TempDir
    Path directory;

    private final StringWriter out = new StringWriter();

    @Test
    void anApiServerThatIsNeverReachedLeavesNoFile() throws IOException {
        // given an address at which no server listens
        Path kubeconfig = Files.writeString(directory.resolve("kubeconfig"), """
                current-context: here
                contexts: [{name: here, context: {cluster: c, user: u}}]
                clusters: [{name: c, cluster: {server: "http://127.0.0.1:1"}}]
                users: [{name: u, user: {}}]
                """);
        Path file = directory.resolve("test.rec");
        RecordCommand command = new RecordCommand(started -> 0);
        new CommandLine(command).parseArgs("--kubeconfig", kubeconfig.toString(), file.toString());
        command.length = Duration.ofSeconds(1);
        command.progress.quiet = true;

        // when the command ends, then its error says what was missing, and no file is left
        assertThatThrownBy(() -> RecordProcess.run(
                        command, new PrintWriter(out), new PrintWriter(new StringWriter()), () -> false))
                .isInstanceOf(IOException.class)
                .hasMessage("nothing was recorded: the API server sent no lists of nodes and leases within 1s;"
                        + " warnings say why");
        assertThat(file).doesNotExist();
        assertThat(out.toString()).isEmpty();
    }
}
