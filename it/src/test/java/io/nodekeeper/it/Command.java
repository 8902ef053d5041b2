package io.nodekeeper.it;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** Runs short programs of the machine. */
public final class Command {
    private static final Duration LIMIT = Duration.ofSeconds(60);

    private Command() {}

    /** The result of a run: exit code and output. */
    public record Result(int code, String output) {}

    /** Runs {@code command} and returns its output; fails unless it exits with 0 within a minute. */
    public static String ok(String... command) throws IOException, InterruptedException {
        Result result = run(LIMIT, command);
        if (result.code != 0) {
            throw new AssertionError(
                    "\"" + String.join(" ", command) + "\" ended with " + result.code + ": " + result.output);
        }
        return result.output;
    }

    /** Runs {@code command}, whatever its exit code; it is killed after {@code limit}, which counts as -1. */
    public static Result run(Duration limit, String... command) throws IOException, InterruptedException {
        // Into a file: children that outlive it would keep a pipe open.
        Path output = Files.createTempFile("command", ".out");
        try {
            Process process = new ProcessBuilder(List.of(command))
                    .redirectErrorStream(true)
                    .redirectOutput(output.toFile())
                    .start();
            boolean ended = process.waitFor(limit.toMillis(), TimeUnit.MILLISECONDS);
            process.destroyForcibly();
            return new Result(ended ? process.exitValue() : -1, Files.readString(output, StandardCharsets.UTF_8));
        } finally {
            Files.delete(output);
        }
    }

    /** Sends a signal to a process: STOP, CONT, KILL, TERM. */
    public static void signal(long pid, String name) throws IOException, InterruptedException {
        ok("kill", "-" + name, Long.toString(pid));
    }

    /** Where {@code program} is; fails with the name of the Debian package that has it. */
    public static Path find(String program, String debianPackage) {
        for (String directory :
                List.of("/usr/local/bin", "/usr/local/sbin", "/usr/bin", "/usr/sbin", "/bin", "/sbin")) {
            Path path = Path.of(directory, program);
            if (Files.isExecutable(path)) {
                return path;
            }
        }
        throw missing(program, debianPackage);
    }

    /** The failure of a test that lacks something of the machine. */
    public static IllegalStateException missing(String what, String debianPackage) {
        return new IllegalStateException(
                what + " is missing; install it (Debian: apt-get install --no-install-recommends " + debianPackage
                        + "), or run ./test, which does");
    }
}
