package io.nodekeeper.cli.replay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonNumber;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.cli.pages.PagesServer;
import io.nodekeeper.client.pages.Page;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

class RecordProcessTest {
    @TempDir
    Path directory;

    private final StringWriter out = new StringWriter();

    private RecordCommand command(String server, Path file) throws IOException {
        Path kubeconfig = Files.writeString(directory.resolve("kubeconfig"), """
                current-context: here
                contexts: [{name: here, context: {cluster: c, user: u}}]
                clusters: [{name: c, cluster: {server: "%s"}}]
                users: [{name: u, user: {}}]
                """.formatted(server));
        RecordCommand command = new RecordCommand(started -> 0);
        new CommandLine(command).parseArgs("--kubeconfig", kubeconfig.toString(), file.toString());
        command.progress.quiet = true;
        return command;
    }

    @Test
    void anApiServerThatIsNeverReachedLeavesNoFile() throws IOException {
        // given an address at which no server listens
        Path file = directory.resolve("test.rec");
        RecordCommand command = command("http://127.0.0.1:1", file);
        command.length = Duration.ofSeconds(1);

        // when the command ends, then its error says what was missing, and no file is left
        assertThatThrownBy(() -> RecordProcess.run(
                        command, new PrintWriter(out), new PrintWriter(new StringWriter()), () -> false))
                .isInstanceOf(IOException.class)
                .hasMessageStartingWith(
                        "nothing was recorded: the API server sent no lists of nodes and leases within 1s; ");
        assertThat(file).doesNotExist();
        assertThat(out.toString()).isEmpty();
    }

    @Test
    void aUserWithoutTheRightsLearnsSoBeforeTheTimeIsOver() throws IOException {
        // given an API server that lists nodes, and refuses leases
        Page nodes = Page.json(Json.parseObject("{\"metadata\":{\"resourceVersion\":\"1\"},\"items\":[]}"));
        Page refusal = new Page(
                403,
                "application/json",
                Json.writeBytes(JsonObject.EMPTY
                        .with("kind", "Status")
                        .with("code", JsonNumber.of(403))
                        .with("reason", "Forbidden")
                        .with("message", "leases is forbidden")));
        Path file = directory.resolve("test.rec");
        try (PagesServer api = PagesServer.start(
                new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
                (path, query) -> CompletableFuture.completedFuture(path.endsWith("/nodes") ? nodes : refusal))) {
            RecordCommand command = command("http://127.0.0.1:" + api.address().getPort(), file);
            command.length = Duration.ofHours(1);

            // when it records for an hour, then it ends with the refusal once the lists are late
            assertThatThrownBy(() -> RecordProcess.run(
                            command,
                            new PrintWriter(out),
                            new PrintWriter(new StringWriter()),
                            () -> false,
                            Duration.ofMillis(1)))
                    .isInstanceOf(IOException.class)
                    .hasMessageStartingWith("nothing was recorded: ")
                    .hasMessageEndingWith("; leases is forbidden");
        }
        assertThat(file).doesNotExist();
    }
}
