package io.nodekeeper.cli.controller;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.cli.command.CommandRunner;
import io.nodekeeper.cli.up.UpCommand;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import picocli.CommandLine;
import picocli.CommandLine.Model.OptionSpec;

/** A controller that is no guard refuses the flags of a guard: their user expects that it only answers reviews. */
class GuardFlagsTest {
    @TempDir
    Path directory;

    private final StringWriter err = new StringWriter();
    private final List<String> launched = new ArrayList<>();
    private final CommandRunner runner = new CommandRunner(
            List.of(
                    new ControllerCommand(command -> {
                        launched.add("controller");
                        return 0;
                    }),
                    new UpCommand(command -> {
                        launched.add("up");
                        return 0;
                    })),
            new PrintWriter(new StringWriter()),
            new PrintWriter(err));
    private Path file = Path.of("file");

    @BeforeEach
    void file() throws IOException {
        file = Files.createFile(directory.resolve("file"));
    }

    private static List<OptionSpec> guardFlags() {
        return new CommandLine(new ControllerCommand(command -> 0))
                .getCommandSpec().options().stream()
                        .filter(option -> option.longestName().startsWith("--guard"))
                        .toList();
    }

    /** The flag with a good value, which may be its default. */
    private String good(OptionSpec flag) {
        Stream<Class<?>> types = Stream.concat(Stream.of(flag.type()), Stream.of(flag.auxiliaryTypes()));
        if (flag.arity().max() == 0) {
            return flag.longestName();
        }
        if (types.anyMatch(Path.class::equals)) {
            return flag.longestName() + "=" + file;
        }
        if (flag.type() == Duration.class) {
            return flag.longestName() + "=15m";
        }
        return flag.longestName() + (flag.type() == double.class ? "=1" : "=9443");
    }

    private int controller(String... flags) {
        return runner.run(Stream.concat(Stream.of("controller", "--kubeconfig=" + file), Stream.of(flags))
                .toArray(String[]::new));
    }

    @ParameterizedTest
    @EnumSource(names = "guard", mode = EnumSource.Mode.EXCLUDE)
    void everyFlagOfAGuardIsRefusedInOtherModes(ControllerOptions.Mode mode) {
        for (OptionSpec flag : guardFlags()) {
            err.getBuffer().setLength(0);

            assertThat(controller("--mode=" + mode, good(flag)))
                    .as(flag.longestName())
                    .isEqualTo(2);

            assertThat(err.toString())
                    .contains(flag.longestName() + ": expected only with --mode guard; --mode is " + mode + "\n");
        }
        assertThat(launched).isEmpty();
    }

    @Test
    void allGivenFlagsAreNamedBesideTheOtherFaults() {
        assertThat(controller("--guard-enforce", "--guard-max-nodes=0.5", "--history-size=0"))
                .isEqualTo(2);

        assertThat(err.toString())
                .startsWith("error: 2 errors:\n")
                .contains("--guard-enforce, --guard-max-nodes: expected only with --mode guard; --mode is enforce\n")
                .contains("--history-size is 0; expected 1 to 1000000\n");
        assertThat(launched).isEmpty();
    }

    @Test
    void aWholeClusterRefusesThemToo() {
        assertThat(runner.run("up", "--guard-enforce")).isEqualTo(2);

        assertThat(err.toString())
                .startsWith("error: --guard-enforce: expected only with --mode guard; --mode is enforce\n");
        assertThat(launched).isEmpty();
    }

    @Test
    void aGuardTakesAllOfThem() {
        List<String> flags = new ArrayList<>(List.of("--mode=guard"));
        guardFlags().forEach(flag -> flags.add(good(flag)));

        assertThat(controller(flags.toArray(String[]::new))).isZero();

        assertThat(flags).hasSize(8);
        assertThat(launched).containsExactly("controller");
    }
}
