package io.nodekeeper.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.time.Randoms;
import io.nodekeeper.time.SystemClock;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;
import picocli.CommandLine.Model.OptionSpec;

/** What a command says, and how it ends, when its output or a file cannot be used. */
class CommandOutputTest {
    @TempDir
    Path directory;

    private final StringWriter err = new StringWriter();

    /** Every command, with everything that prints printing to {@code out}. */
    private List<NodekeeperCommand> commands(PrintWriter out) {
        PrintWriter errors = new PrintWriter(err);
        return List.of(
                new UpCommand(command -> print(out)),
                new ApiServerCommand(
                        command -> print(out),
                        new SnapshotCommand(errors),
                        new RestoreCommand(errors),
                        new CheckCommand(out),
                        new RepairCommand(out),
                        new RewriteCommand(out)),
                new ControllerCommand(command -> print(out)),
                new AgentCommand(command -> print(out)),
                new HollowNodesCommand(command -> print(out)),
                new SimulateCommand(command -> SimulateProcess.run(command, out, errors)),
                new WhyCommand(command -> WhyProcess.run(command, new SystemClock(), out, errors)),
                new DoctorCommand(command -> print(out)),
                new CertsCommand(Instant.EPOCH, Randoms.seeded(1), out));
    }

    private static int print(PrintWriter out) {
        out.println("ready");
        return CommandRunner.OK;
    }

    private int run(OutputStream stream, String... arguments) {
        CheckedWriter out = new CheckedWriter(stream);
        err.getBuffer().setLength(0);
        return new CommandRunner(commands(out), out, new PrintWriter(err)).run(arguments);
    }

    private List<String[]> thatPrint() {
        List<String[]> printing = new ArrayList<>();
        printing.add(new String[] {"--help"});
        printing.add(new String[] {"--version"});
        for (NodekeeperCommand command : commands(new PrintWriter(new StringWriter()))) {
            String name = new CommandLine(command).getCommandName();
            printing.add(new String[] {name, "--help"});
            command.parts()
                    .forEach(part ->
                            printing.add(new String[] {name, new CommandLine(part).getCommandName(), "--help"}));
        }
        printing.add(new String[] {"apiserver"});
        printing.add(new String[] {"doctor"});
        printing.add(new String[] {"simulate", "--nodes", "3", "--duration", "1m"});
        printing.add(new String[] {"simulate", "--nodes", "3", "--duration", "1m", "-o", "json"});
        return printing;
    }

    @Test
    void aFullDiskBehindStandardOutputIsAFailureOfEveryCommand() throws Exception {
        for (String[] arguments : thatPrint()) {
            try (OutputStream full = new FileOutputStream("/dev/full")) {
                assertThat(run(full, arguments)).as(Arrays.toString(arguments)).isEqualTo(1);
            }
            assertThat(err.toString())
                    .as(Arrays.toString(arguments))
                    .contains("error: cannot write to standard output: No space left on device");
        }
    }

    @Test
    void aReaderThatWentAwayEndsEveryCommandQuietly() {
        for (String[] arguments : thatPrint()) {
            OutputStream closed = new OutputStream() {
                @Override
                public void write(int value) throws IOException {
                    throw new IOException("Broken pipe");
                }
            };
            assertThat(run(closed, arguments)).as(Arrays.toString(arguments)).isEqualTo(141);
            assertThat(err.toString()).doesNotContain("error");
        }
    }

    @Test
    void anEmptyFileNameIsAFaultOfEveryFlagThatTakesOne() {
        List<String> seen = new ArrayList<>();
        for (NodekeeperCommand command : commands(new PrintWriter(new StringWriter()))) {
            List<String> name = List.of(new CommandLine(command).getCommandName());
            seen.addAll(refuseEmpty(command, name));
            for (NodekeeperCommand part : command.parts()) {
                seen.addAll(refuseEmpty(part, List.of(name.getFirst(), new CommandLine(part).getCommandName())));
            }
        }
        assertThat(seen)
                .contains("up --data-dir", "apiserver --client-ca-file", "apiserver check --data-dir", "agent --config")
                .hasSizeGreaterThan(25);
    }

    private List<String> refuseEmpty(NodekeeperCommand command, List<String> name) {
        List<String> seen = new ArrayList<>();
        for (OptionSpec option : new CommandLine(command).getCommandSpec().options()) {
            if (option.type() == Path.class
                    || Arrays.asList(option.auxiliaryTypes()).contains(Path.class)) {
                List<String> arguments = new ArrayList<>(name);
                arguments.add(option.longestName() + "=");
                assertThat(run(OutputStream.nullOutputStream(), arguments.toArray(String[]::new)))
                        .as(arguments.toString())
                        .isEqualTo(2);
                assertThat(err.toString())
                        .contains(option.longestName() + " is empty; expected a " + option.paramLabel());
                seen.add(String.join(" ", name) + " " + option.longestName());
            }
        }
        return seen;
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
        // a directory that takes no files, whoever asks
        assertThat(run(
                        OutputStream.nullOutputStream(),
                        "simulate",
                        "--nodes",
                        "3",
                        "--duration",
                        "1m",
                        "--trace",
                        "/proc/x"))
                .isEqualTo(1);
        assertThat(err.toString()).contains("error: cannot write --trace (/proc/x: no such file or directory");
        // a directory for a file
        assertThat(run(OutputStream.nullOutputStream(), "simulate", "--trace", directory.toString()))
                .isEqualTo(2);
        assertThat(err.toString()).contains("--trace is " + directory + ", which is a directory; expected a file");
        // a file for a directory, also further up
        Path file = Files.writeString(directory.resolve("file"), "", StandardCharsets.UTF_8);
        assertThat(run(OutputStream.nullOutputStream(), "apiserver", "--data-dir", file.toString()))
                .isEqualTo(2);
        assertThat(err.toString()).contains("--data-dir is " + file + ", which is no directory");
        assertThat(run(OutputStream.nullOutputStream(), "apiserver", "--data-dir", file + "/below"))
                .isEqualTo(2);
        assertThat(err.toString())
                .contains("--data-dir is " + file + "/below, which is no directory: " + file + " is a file");
        // and what cannot be read says why
        assertThat(run(OutputStream.nullOutputStream(), "apiserver", "--client-ca-file", directory.toString()))
                .isEqualTo(2);
        assertThat(err.toString()).contains("which is no file that can be read: it is a directory");
        assertThat(run(OutputStream.nullOutputStream(), "apiserver", "--client-ca-file", "/none/x"))
                .isEqualTo(2);
        assertThat(err.toString()).contains("which is no file that can be read: its directory /none does not exist");
    }
}
