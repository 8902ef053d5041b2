package io.nodekeeper.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.cli.certs.Certificates;
import io.nodekeeper.cli.files.FileErrors;
import io.nodekeeper.cli.pages.PagesServer;
import io.nodekeeper.cli.store.SnapshotFile;
import io.nodekeeper.client.pages.Page;
import io.nodekeeper.controller.history.Decision;
import io.nodekeeper.controller.history.FileHistory;
import io.nodekeeper.controller.metrics.ControllerMetrics;
import io.nodekeeper.simulator.replay.RecordedChange;
import io.nodekeeper.simulator.replay.RecordingWriter;
import io.nodekeeper.store.Journal;
import io.nodekeeper.store.disk.RocksJournal;
import io.nodekeeper.time.Randoms;
import io.nodekeeper.time.ThreadLoop;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine.Model.CommandSpec;

/** What a command says, and how it ends, when its output or a file cannot be used. */
class CommandOutputTest {
    @TempDir
    Path directory;

    private final CommandModel model = new CommandModel();
    private PagesServer pages;

    /** A controller whose only page has no nodes. */
    @BeforeEach
    void serve() throws IOException {
        pages = PagesServer.start(
                new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
                (path, query) -> CompletableFuture.completedFuture(Page.json(PAGE)));
    }

    @AfterEach
    void stop() {
        pages.close();
    }

    /** A status page, and a list of no objects. */
    private static final JsonObject PAGE =
            JsonObject.EMPTY.with("nodes", "none").with("metadata", JsonObject.EMPTY.with("resourceVersion", "1"));

    /** A stream that fails at each write, and counts the writes. */
    private static final class Failing extends OutputStream {
        private final OutputStream target;
        private int writes;

        Failing(OutputStream target) {
            this.target = target;
        }

        @Override
        public void write(int value) throws IOException {
            writes++;
            target.write(value);
        }

        @Override
        public void write(byte[] bytes, int from, int length) throws IOException {
            writes++;
            target.write(bytes, from, length);
        }

        @Override
        public void close() throws IOException {
            target.close();
        }
    }

    /** A disk that is full. */
    private static Failing full() throws IOException {
        return new Failing(new FileOutputStream("/dev/full"));
    }

    /** A pipe whose reader is gone. */
    private static Failing closed() {
        return new Failing(new OutputStream() {
            @Override
            public void write(int value) throws IOException {
                throw new IOException("Broken pipe");
            }
        });
    }

    /** A data directory with certificates and a store. */
    private Path data() throws IOException {
        Path data = Files.createTempDirectory(directory, "data");
        Certificates.open(data, Instant.now(), Randoms.seeded(1));
        RocksJournal.create(data.resolve("store"), 1, 2_000_000, taker -> {});
        return data;
    }

    private String text(String name, String content) throws IOException {
        return Files.writeString(directory.resolve(name), content, StandardCharsets.UTF_8)
                .toString();
    }

    /** How each command ends well, if its output can be written: arguments behind its name. */
    private Map<String, List<String>> samples() throws IOException {
        String data = data().toString();
        String kubeconfig = text("kubeconfig", "");
        Path snapshot = directory.resolve("snapshot");
        SnapshotFile.write(snapshot, new Journal.Recovered(1, List.of(), List.of()));
        String encryption = text("encryption.yaml", """
                apiVersion: apiserver.config.k8s.io/v1
                kind: EncryptionConfiguration
                resources:
                - resources: [secrets]
                  providers: [{identity: {}}]
                """);
        return Map.ofEntries(
                Map.entry("up", List.of("--data-dir", data)),
                Map.entry("apiserver", List.of("--data-dir", data)),
                Map.entry("apiserver check", List.of("--data-dir", data)),
                Map.entry("apiserver repair", List.of("--data-dir", data)),
                Map.entry(
                        "apiserver restore",
                        List.of(
                                "--data-dir",
                                Files.createTempDirectory(directory, "new").toString(),
                                snapshot.toString())),
                Map.entry("apiserver rewrite", List.of("--data-dir", data, "--encryption-provider-config", encryption)),
                Map.entry(
                        "apiserver snapshot",
                        List.of("--data-dir", data, directory.resolve("saved").toString())),
                Map.entry("controller", List.of("--kubeconfig", kubeconfig)),
                Map.entry("agent", List.of("--kubeconfig", kubeconfig)),
                Map.entry("guard", List.of("print")),
                Map.entry("hollow-nodes", List.of("--kubeconfig", kubeconfig)),
                Map.entry("simulate", List.of("--nodes", "3", "--duration", "1m")),
                Map.entry("tune", List.of("--nodes", "3", "--duration", "1m", "--vary", "detector=fixed")),
                Map.entry("replay", List.of(recording())),
                Map.entry(
                        "replay record",
                        List.of(
                                "--kubeconfig",
                                reachable(),
                                "--for",
                                "2s",
                                directory.resolve("new.rec").toString())),
                Map.entry("why", List.of("n1", "--history-dir", history())),
                Map.entry("observe-report", List.of("--history-dir", history())),
                Map.entry(
                        "status",
                        List.of(
                                "--server",
                                "http://127.0.0.1:" + pages.address().getPort())),
                Map.entry("completion", List.of("bash")),
                Map.entry("doctor", List.of("--container-runtime-endpoint", "unix:///tmp/none.sock")),
                Map.entry("certs", List.of("--data-dir", data, "--node", "n1", "--server", "https://h:1")));
    }

    /** A kubeconfig for the server of {@link #PAGE}. */
    private String reachable() throws IOException {
        return text("reachable.kubeconfig", """
                current-context: c
                contexts: [{name: c, context: {cluster: c, user: u}}]
                clusters: [{name: c, cluster: {server: "http://127.0.0.1:%d"}}]
                users: [{name: u, user: {}}]
                """.formatted(pages.address().getPort()));
    }

    /** A recording without nodes. */
    private String recording() throws IOException {
        Path file = directory.resolve("some.rec");
        try (RecordingWriter writer = new RecordingWriter(Files.newOutputStream(file), Instant.EPOCH)) {
            writer.write(new RecordedChange.End(Duration.ofSeconds(2)));
        }
        return file.toString();
    }

    /** A history with one decision about node n1. */
    private String history() throws IOException {
        Path at = Files.createTempDirectory(directory, "history");
        ThreadLoop loop = new ThreadLoop("controller");
        try {
            FileHistory history = new FileHistory(at, 1 << 20, loop, new ControllerMetrics());
            CompletableFuture.runAsync(
                            () -> history.add(new Decision(
                                    Instant.EPOCH, "n1", "uid-1", "Returned", "Heard of again.", JsonObject.EMPTY)),
                            loop)
                    .join();
            history.close();
        } finally {
            loop.close();
        }
        return at.toString();
    }

    /** Command lines of every command: its work, in each format that it has, its help, and the version. */
    private List<List<String>> everyCommand() throws IOException {
        List<List<String>> lines = new ArrayList<>(List.of(List.of("--help"), List.of("--version")));
        Map<String, List<String>> samples = samples();
        for (Map.Entry<String, CommandSpec> command : model.specs().entrySet()) {
            List<String> line = new ArrayList<>(List.of(command.getKey().split(" ")));
            lines.add(Stream.concat(line.stream(), Stream.of("--help")).toList());
            // A new command needs a sample.
            assertThat(samples).containsKey(command.getKey());
            line.addAll(samples.get(command.getKey()));
            lines.add(line);
            if (command.getValue().findOption("--output") != null) {
                lines.add(Stream.concat(line.stream(), Stream.of("-o", "json")).toList());
            }
        }
        return lines;
    }

    @Test
    void aFullDiskBehindStandardOutputIsAFailureOfEveryCommandThatPrints() throws Exception {
        List<String> silent = new ArrayList<>();
        for (List<String> line : everyCommand()) {
            try (Failing full = full()) {
                int code = model.run(full, line);
                List<String> errors = model.err()
                        .lines()
                        .filter(text -> text.startsWith("error"))
                        .toList();
                if (full.writes == 0) {
                    silent.add(line.get(1));
                    assertThat(code).as(line + model.err()).isZero();
                    assertThat(errors).as(line.toString()).isEmpty();
                } else {
                    assertThat(code).as(line.toString()).isEqualTo(1);
                    assertThat(errors)
                            .as(line.toString())
                            .containsExactly("error: cannot write to standard output: No space left on device");
                }
            }
        }
        // These write a file, and report to standard error.
        assertThat(silent).containsExactlyInAnyOrder("snapshot", "restore");
    }

    @Test
    void aReaderThatWentAwayEndsEveryCommandQuietly() throws Exception {
        for (List<String> line : everyCommand()) {
            try (Failing closed = closed()) {
                int code = model.run(closed, line);
                assertThat(code).as(line.toString()).isEqualTo(closed.writes == 0 ? 0 : 141);
                assertThat(model.err()).as(line.toString()).doesNotContain("error");
            }
        }
    }

    @Test
    void aFullDiskBehindAFileIsAFailureThatNamesIt() throws Exception {
        // given outputs that are devices; what they would lose is not written elsewhere
        Path data = data();
        for (List<String> line : List.of(
                List.of("apiserver", "snapshot", "--data-dir", data.toString(), "/dev/full"),
                List.of(
                        "certs",
                        "--data-dir",
                        data.toString(),
                        "--node",
                        "n1",
                        "--server",
                        "https://h:1",
                        "--out",
                        "/dev/full"),
                List.of("observe-report", "--history-dir", history(), "--output-file", "/dev/full"),
                List.of("simulate", "--nodes", "3", "--duration", "1m", "--trace", "/dev/full"))) {
            int code = model.run(line);
            assertThat(code).as(line.toString()).isIn(1, 2);
            assertThat(model.err().lines().filter(text -> text.startsWith("error")))
                    .as(line.toString())
                    .hasSize(1);
            assertThat(model.err()).contains("/dev/full");
        }
    }

    @Test
    void everyFileErrorNamesTheFileAndTheReason() {
        assertThat(FileErrors.text(new NoSuchFileException("/tmp"))).isEqualTo("/tmp: no such file or directory");
        assertThat(FileErrors.text(new NoSuchFileException("/none/x")))
                .isEqualTo("/none/x: no such file or directory; its directory /none does not exist");
        assertThat(FileErrors.text(new AccessDeniedException("/x"))).isEqualTo("/x: permission denied");
        assertThat(FileErrors.text(new NotDirectoryException("/x"))).isEqualTo("/x: is not a directory");
        assertThat(FileErrors.text(new FileAlreadyExistsException("/tmp")))
                .isEqualTo("/tmp: exists already and is a directory");
        assertThat(FileErrors.text(new FileSystemException("/x", null, "Read-only file system")))
                .isEqualTo("/x: read-only file system");
        assertThat(FileErrors.text(new FileSystemException("/x", "/y", "Invalid cross-device link")))
                .isEqualTo("/x -> /y: invalid cross-device link");
        assertThat(FileErrors.text(new FileSystemException("/x"))).isEqualTo("/x: the file system refuses it");
        // with what was tried around it
        assertThat(FileErrors.text(new IOException("cannot read the key", new AccessDeniedException("/x"))))
                .isEqualTo("cannot read the key (/x: permission denied)");
        assertThat(FileErrors.text(new UncheckedIOException(new AccessDeniedException("/x"))))
                .isEqualTo("/x: permission denied");
        assertThat(FileErrors.text(new IllegalStateException("no file"))).isEqualTo("no file");
        assertThat(FileErrors.text(new CharacterCodingException())).startsWith("a file is not UTF-8 text");
    }

    @Test
    void aFileThatCannotBeWrittenIsNamedWithTheReason() throws Exception {
        // a directory in which not even root can create files
        assertThat(run("simulate", "--nodes", "3", "--duration", "1m", "--trace", "/proc/x"))
                .isEqualTo(1);
        assertThat(model.err()).contains("error: cannot write --trace (/proc/x: no such file or directory");
        // a directory for a file
        assertThat(run("simulate", "--trace", directory.toString())).isEqualTo(2);
        assertThat(model.err()).contains("--trace is " + directory + ", which is a directory; expected a file");
        // a file for a directory, also further up
        Path file = Files.writeString(directory.resolve("file"), "", StandardCharsets.UTF_8);
        assertThat(run("apiserver", "--data-dir", file.toString())).isEqualTo(2);
        assertThat(model.err()).contains("--data-dir is " + file + ", which is not a directory");
        assertThat(run("apiserver", "--data-dir", file + "/below")).isEqualTo(2);
        assertThat(model.err())
                .contains("--data-dir is " + file + "/below, which is not a directory: " + file + " is a file");
        // and what cannot be read says why
        assertThat(run("apiserver", "--client-ca-file", directory.toString())).isEqualTo(2);
        assertThat(model.err()).contains("which is not a readable file: it is a directory");
        assertThat(run("apiserver", "--client-ca-file", "/none/x")).isEqualTo(2);
        assertThat(model.err()).contains("which is not a readable file: its directory /none does not exist");
    }

    private int run(String... arguments) {
        return model.run(List.of(arguments));
    }
}
