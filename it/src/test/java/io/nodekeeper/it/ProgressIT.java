package io.nodekeeper.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Commands that take long show how far they are and report what they have after Ctrl-C; help never waits for preparations. */
class ProgressIT {
    private static final Duration LIMIT = Duration.ofSeconds(90);
    private static final String BUILT = "dist/target/nodekeeper";

    @TempDir
    Path directory;

    private final Path dist = Path.of(System.getProperty("nodekeeper.dist"));

    /** A process with its standard output and standard error. */
    private record Started(Process process, Path out, Path err) {

        /** Sends SIGINT, as Ctrl-C does, and returns the exit code. */
        int interrupt() throws Exception {
            Command.signal(process.pid(), "INT");
            assertThat(process.waitFor(LIMIT.toSeconds(), TimeUnit.SECONDS))
                    .as("ended after SIGINT")
                    .isTrue();
            return process.exitValue();
        }
    }

    private Started start(String name, String... arguments) throws IOException {
        // A test that runs in the background may ignore SIGINT, and its children with it.
        List<String> command = new ArrayList<>(List.of("env", "--default-signal=INT"));
        command.addAll(QuickStart.command(dist, List.of("-Xmx256m", "-XX:TieredStopAtLevel=1"), List.of(arguments)));
        Path out = directory.resolve(name + ".out");
        Path err = directory.resolve(name + ".err");
        Process process = new ProcessBuilder(command)
                .redirectOutput(out.toFile())
                .redirectError(err.toFile())
                .start();
        return new Started(process, out, err);
    }

    @Test
    void afterCtrlCSimulationsAndHollowNodesReportWhatTheyHave() throws Exception {
        // given a simulation that would take days, and hollow nodes whose server accepts connections and never answers
        try (ServerSocket silent = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
            Path kubeconfig = Files.writeString(directory.resolve("kubeconfig"), """
                    apiVersion: v1
                    kind: Config
                    current-context: silent
                    clusters:
                    - name: silent
                      cluster: {server: "http://127.0.0.1:%d"}
                    contexts:
                    - name: silent
                      context: {cluster: silent, user: tester}
                    users:
                    - name: tester
                      user: {}
                    """.formatted(silent.getLocalPort()));
            Started simulate = start("simulate", "simulate", "--nodes=20", "--duration=100000h", "-o", "json");
            Started hollow =
                    start("hollow", "hollow-nodes", "--count=10", "--kubeconfig", kubeconfig.toString(), "--v=0");
            try {
                // when both have shown their progress
                Eventually.within(
                        LIMIT,
                        () -> Files.readString(simulate.err).contains("simulate: 0 %")
                                && Files.readString(hollow.err)
                                        .contains("hollow-nodes: 0 %: 0 of 10 nodes registered"));
                // and get SIGINT
                int simulated = simulate.interrupt();
                int registered = hollow.interrupt();

                // then they have reported, with the exit code of SIGINT
                assertThat(Files.readString(simulate.out))
                        .startsWith("{")
                        .contains("\"partial\" : true")
                        .endsWith("}\n");
                assertThat(simulated).isEqualTo(130);
                assertThat(Files.readString(hollow.out))
                        .matches("PARTIAL: interrupted after \\S+ with 0 of 10 hollow nodes registered; 0 requests"
                                + " answered, 0 refused, \\d+ failed; the Nodes stay in the API\n");
                assertThat(registered).isEqualTo(130);
            } finally {
                simulate.process.destroyForcibly();
                hollow.process.destroyForcibly();
            }
        }
    }

    /** At a terminal Ctrl-C reaches all processes of the script; others signal the script alone. */
    @ParameterizedTest
    @CsvSource({"INT, -, 130", "TERM, '', 143"})
    void aScriptShowsWhatItsBenchmarkDoesAndAfterASignalKeepsTheRowsThatWerePrinted(
            String signal, String group, int code) throws Exception {
        // given a script whose benchmark has printed one row and measures the next, in a process group as at a terminal
        Path state = directory.resolve("state");
        Path script = Files.writeString(directory.resolve("bench.sh"), """
                . %s
                progress_interval=2
                shown_state=%s
                run_shown scripts/bench "two minutes" sh -c 'echo "measurement 2 of 4" >%2$s; echo "| row 1 |"; exec sleep 100'
                echo "not reached"
                """.formatted(
                        dist.resolve("../../../scripts/progress.sh").toRealPath(), state));
        Path out = directory.resolve("bench.out");
        Path err = directory.resolve("bench.err");
        Process process = new ProcessBuilder("setsid", "env", "--default-signal=INT", "sh", script.toString())
                .redirectOutput(out.toFile())
                .redirectError(err.toFile())
                .start();
        try {
            // when it has shown what it does, which it does every two seconds
            String shown = "scripts/bench, ([2-9]|\\d\\d)s: ";
            String lines = "(" + shown + "two minutes\n)*(" + shown + "measurement 2 of 4\n)+";
            Eventually.within(LIMIT, () -> Files.readString(err).matches(lines));
            List<ProcessHandle> started = process.descendants().toList();
            // and the script, or its whole group, gets the signal
            Command.ok("kill", "-" + signal, "--", group + process.pid());

            // then it says that its rows are partial, with the exit code of the signal, and nothing that it started
            // goes on
            assertThat(process.waitFor(LIMIT.toSeconds(), TimeUnit.SECONDS)).isTrue();
            assertThat(process.exitValue()).isEqualTo(code);
            assertThat(Files.readString(out)).isEqualTo("| row 1 |\n");
            assertThat(started).hasSizeGreaterThan(1);
            Eventually.within(LIMIT, () -> started.stream().noneMatch(ProcessHandle::isAlive));
            assertThat(Files.readString(err))
                    .containsPattern(
                            "\nscripts/bench: PARTIAL: interrupted after \\d+s; only what is printed above was done\n$");
        } finally {
            process.destroyForcibly();
        }
    }

    @Test
    void helpOfANewBuildPreparesNothing() throws Exception {
        // given the script with a distribution that has learned nothing
        Path home = scriptWithItsOwnDistribution();

        Command.Result help = Command.run(LIMIT, home.resolve("nodekeeper").toString(), "agent", "--help");

        assertThat(help.output()).startsWith("Usage: nodekeeper agent ");
        assertThat(help.code()).isZero();
        try (Stream<Path> files = Files.list(home.resolve(BUILT))) {
            assertThat(files.map(Path::getFileName).map(Path::toString))
                    .containsExactlyInAnyOrder("lib", "native", "built");
        }
    }

    @Test
    void aStartPreparesAgainOnceAnArchiveIsNewerThanWhatWasLearned() throws Exception {
        // given the script with a distribution that has learned nothing
        Path home = scriptWithItsOwnDistribution();
        String[] start = {home.resolve("nodekeeper").toString(), "controller", "--kubeconfig", "missing"};

        // when it starts twice, and once more after an archive was built again
        Command.Result first = Command.run(LIMIT, start);
        Command.Result second = Command.run(LIMIT, start);
        Path archive;
        try (Stream<Path> archives = Files.list(home.resolve(BUILT).resolve("lib"))) {
            archive = archives.filter(jar -> jar.getFileName().toString().startsWith("nodekeeper-cli"))
                    .findFirst()
                    .orElseThrow();
        }
        Files.setLastModifiedTime(archive, FileTime.from(Instant.now()));
        Command.Result third = Command.run(LIMIT, start);

        // then the first and the third have prepared, and each has done its work
        assertThat(first.output())
                .startsWith("nodekeeper: preparing quick starts")
                .contains("missing");
        assertThat(second.output()).doesNotContain("preparing").contains("missing");
        assertThat(third.output())
                .startsWith("nodekeeper: preparing quick starts")
                .contains("missing");
    }

    /** A directory with the script and a distribution whose archives are links, except Nodekeeper's own. */
    private Path scriptWithItsOwnDistribution() throws IOException {
        Path root = dist.resolve("../../..").normalize();
        Path home = directory.resolve("a home with blanks");
        Files.createDirectories(home.resolve("scripts"));
        Files.copy(root.resolve("nodekeeper"), home.resolve("nodekeeper"), StandardCopyOption.COPY_ATTRIBUTES);
        for (String part : List.of("toolchain.sh", "flags.sh", "progress.sh")) {
            Files.copy(
                    root.resolve("scripts").resolve(part),
                    home.resolve("scripts").resolve(part));
        }
        Path built = home.resolve(BUILT);
        Path lib = Files.createDirectories(built.resolve("lib"));
        try (Stream<Path> archives = Files.list(dist.resolve("lib"))) {
            for (Path archive : archives.toList()) {
                Path name = lib.resolve(archive.getFileName());
                if (name.getFileName().toString().startsWith("nodekeeper-")) {
                    Files.copy(archive, name);
                } else {
                    Files.createSymbolicLink(name, archive.toRealPath());
                }
            }
        }
        Files.createSymbolicLink(built.resolve("native"), dist.resolve("native").toRealPath());
        Files.createFile(built.resolve("built"));
        return home;
    }
}
