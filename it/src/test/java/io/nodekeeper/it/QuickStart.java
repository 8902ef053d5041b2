package io.nodekeeper.it;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * Java's command line for a quick start of Nodekeeper: with an archive of loaded and linked classes, as {@code ./nodekeeper}
 * makes one. A run of all process tests starts more than a hundred processes, which otherwise spend their first seconds on
 * loading classes. The archive is made once for a distribution, in a trial run of all parts. Thread-safe.
 */
final class QuickStart {
    /** Flags that must be the same when the archive is made and when it is used. */
    private static final List<String> COMMON = List.of(
            "-XX:+UseSerialGC",
            "-XX:+UseCompactObjectHeaders",
            "--enable-native-access=ALL-UNNAMED",
            "--sun-misc-unsafe-memory-access=allow");
    /** A limit for each half of the trial run, which take some 5 s on two idle processors. */
    private static final Duration TRIAL = Duration.ofSeconds(120);
    /** In which the controller judges the node, and the agent renews its lease of 4 s. */
    private static final Duration WORK = Duration.ofSeconds(2);

    private QuickStart() {}

    /** The command that runs {@code arguments} of the distribution, with more {@code flags} for Java. */
    static List<String> command(Path dist, List<String> flags, List<String> arguments) throws IOException {
        List<String> more = new ArrayList<>(List.of(
                "-XX:AOTCache=" + archive(dist),
                // What the compilers learned in an idle trial run makes servers slower under load.
                "-XX:+UnlockDiagnosticVMOptions",
                "-XX:-AOTReplayTraining",
                "-Xlog:disable",
                "-Xlog:all=error:stderr"));
        more.addAll(flags);
        return java(dist, more, arguments);
    }

    private static List<String> java(Path dist, List<String> flags, List<String> arguments) throws IOException {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(COMMON);
        command.add("-Djava.library.path=" + dist.resolve("native"));
        command.addAll(flags);
        // An archive is valid for one order of the jars.
        command.addAll(List.of(
                "-cp", String.join(":", jars(dist).map(Path::toString).sorted().toList()), "io.nodekeeper.cli.Main"));
        command.addAll(arguments);
        return command;
    }

    private static Stream<Path> jars(Path dist) throws IOException {
        try (Stream<Path> files = Files.list(dist.resolve("lib"))) {
            return files.filter(file -> file.toString().endsWith(".jar")).toList().stream();
        }
    }

    /** The archive of the distribution's classes, made if it is missing or older than a jar. */
    private static synchronized Path archive(Path dist) throws IOException {
        Path archive = dist.resolve("tests.aot");
        if (isOfItsJars(dist, archive)) {
            return archive;
        }
        Path trial = Files.createTempDirectory("trial");
        try {
            Path made = trial.resolve("made.aot");
            learn(dist, trial, made);
            return Files.move(made, archive, StandardCopyOption.REPLACE_EXISTING);
        } catch (InterruptedException e) {
            throw new InterruptedIOException("interrupted while the archive of classes was made");
        } finally {
            try (Stream<Path> files = Files.walk(trial)) {
                files.sorted(Comparator.reverseOrder())
                        .forEach(file -> file.toFile().delete());
            }
        }
    }

    /** Whether an archive is newer than all jars of the distribution; false if it is missing. */
    static boolean isOfItsJars(Path dist, Path archive) throws IOException {
        long newest =
                jars(dist).mapToLong(jar -> jar.toFile().lastModified()).max().orElse(0);
        return archive.toFile().lastModified() > newest;
    }

    /** Runs all parts in one process for a moment, which writes the archive at its end. */
    private static void learn(Path dist, Path trial, Path archive) throws IOException, InterruptedException {
        List<String> command = java(
                dist,
                List.of("-Xmx1g", "-XX:AOTCacheOutput=" + archive),
                List.of(
                        "up",
                        "--data-dir=" + trial.resolve("data"),
                        "--root-dir=" + trial,
                        "--secure-port=0",
                        "--healthz-port=0",
                        "--controller-bind-address=off",
                        "--node-name=trial",
                        "--container-runtime-endpoint=none",
                        "--node-lease-duration-seconds=4"));
        Path log = trial.resolve("log");
        Process process = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(log.toFile())
                .start();
        try {
            long end = System.nanoTime() + TRIAL.toNanos();
            while (process.isAlive()
                    && System.nanoTime() < end
                    && Files.readAllLines(log).stream().noneMatch(line -> line.startsWith("ready"))) {
                Thread.sleep(50);
            }
            Thread.sleep(WORK.toMillis());
            process.destroy();
            process.waitFor(TRIAL.toSeconds(), TimeUnit.SECONDS);
        } finally {
            process.destroyForcibly();
        }
        if (!Files.exists(archive)) {
            throw new IllegalStateException("the trial run wrote no archive of classes: " + Files.readString(log));
        }
    }
}
