package io.nodekeeper.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The modes of all files that commands write, under a umask that takes nothing away: other users of the machine have rights
 * on what is listed here with a reason, and on nothing else. {@code FileOptionsTest} lists the options that name these files.
 */
class FilesIT {
    /** Paths below the test's directory that others have rights on, and why. */
    private static final Pattern OPEN = Pattern.compile(
            // Certificates are public: clients of other users need the authority's.
            "data/pki/[^/]*\\.crt"
                    // The report of a simulation holds no data of a cluster.
                    + "|trace\\.txt"
                    // RocksDB makes these while the server runs; the directory above is closed to others.
                    + "|(data|restored)/store/.*");

    @TempDir
    Path directory;

    /** The command line of a process whose umask takes nothing away. */
    private static String[] unmasked(String... arguments) throws IOException {
        Path dist = Path.of(System.getProperty("nodekeeper.dist"));
        List<String> line = new ArrayList<>(List.of("sh", "-c", "umask 000; exec \"$@\"", "sh"));
        line.addAll(QuickStart.command(dist, List.of("-Xmx512m", "-XX:TieredStopAtLevel=1"), List.of(arguments)));
        return line.toArray(String[]::new);
    }

    private String at(String name) {
        return directory.resolve(name).toString();
    }

    /** Runs API server, controller and agent until they are ready. */
    private void up() throws Exception {
        Path log = Files.createTempFile("up", ".log");
        Process up = new ProcessBuilder(unmasked(
                        "up",
                        "--data-dir",
                        at("data"),
                        "--history-dir",
                        at("history"),
                        "--root-dir",
                        at("agent"),
                        "--cert-dir",
                        at("agent/certificates"),
                        "--audit-log-path",
                        at("audit.log"),
                        "--secure-port=0",
                        "--healthz-port=0",
                        "--controller-bind-address=off",
                        "--node-name=n1",
                        "--container-runtime-endpoint=none"))
                .redirectErrorStream(true)
                .redirectOutput(log.toFile())
                .start();
        try {
            Eventually.within(
                    Duration.ofMinutes(2),
                    () -> !up.isAlive() || Files.readString(log).contains("ready https://"));
        } finally {
            up.destroy();
            assertThat(up.waitFor(60, TimeUnit.SECONDS)).isTrue();
        }
        assertThat(Files.readString(log)).contains("ready https://");
        Files.delete(log);
    }

    /** Paths on which group or others have rights, with their modes. */
    private List<String> open() throws Exception {
        List<String> open = new ArrayList<>();
        try (Stream<Path> files = Files.walk(directory)) {
            for (Path file : files.skip(1).toList()) {
                String mode =
                        PosixFilePermissions.toString(Files.getPosixFilePermissions(file, LinkOption.NOFOLLOW_LINKS));
                String name = directory.relativize(file).toString();
                if (!mode.endsWith("------") && !OPEN.matcher(name).matches()) {
                    open.add(name + " " + mode);
                }
            }
        }
        return open;
    }

    @Test
    void whatCommandsWriteIsForTheirUserAlone() throws Exception {
        // when a cluster runs
        up();
        assertThat(open()).isEmpty();
        assertThat(directory.resolve("audit.log")).isNotEmptyFile();
        // Its files come with the first verdict; the controller's SegmentModesTest looks at their modes.
        assertThat(directory.resolve("history")).isDirectory();
        // and each command that writes is run on what it left
        Path encryption = Files.writeString(directory.resolve("encryption.yaml"), """
                apiVersion: apiserver.config.k8s.io/v1
                kind: EncryptionConfiguration
                resources:
                - resources: [secrets]
                  providers: [{identity: {}}]
                """);
        Files.setPosixFilePermissions(encryption, PosixFilePermissions.fromString("rw-------"));
        String data = "--data-dir=" + at("data");
        Command.ok(unmasked("apiserver", "rewrite", data, "--encryption-provider-config", encryption.toString()));
        assertThat(open()).isEmpty();
        Command.ok(unmasked("apiserver", "snapshot", data, at("objects.snapshot")));
        Command.ok(unmasked("apiserver", "restore", "--data-dir=" + at("restored"), at("objects.snapshot")));
        Command.ok(unmasked("certs", data, "--user=alice", "--out=" + at("alice.kubeconfig")));
        Command.ok(unmasked("simulate", "--nodes=3", "--duration=1m", "--trace=" + at("trace.txt")));
        // doctor's exit code is 1, because there is no container runtime
        Command.run(
                Duration.ofMinutes(1),
                unmasked(
                        "doctor",
                        "--container-runtime-endpoint=unix://" + at("none.sock"),
                        "--healthz-port=1",
                        "--bundle=" + at("evidence.tar.gz")));
        assertThat(directory.resolve("evidence.tar.gz")).isNotEmptyFile();
        Command.ok(unmasked("observe-report", "--history-dir=" + at("history"), "--output-file=" + at("observed.md")));
        assertThat(directory.resolve("observed.md")).isNotEmptyFile();
        // given a store whose latest change is damaged
        Files.delete(directory.resolve("data/store/CURRENT"));
        Command.ok(unmasked("apiserver", "repair", data));
        assertThat(directory.resolve("data/store.damaged-1")).isDirectory();
        // then others have no rights
        assertThat(open().stream().filter(name -> !name.startsWith("data/store.damaged-1/")))
                .isEmpty();
    }
}
