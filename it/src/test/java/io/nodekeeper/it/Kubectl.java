package io.nodekeeper.it;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** The real kubectl. */
final class Kubectl {
    private final String executable;
    private final Path directory;
    private final Path kubeconfig;
    private String editor = "false";

    /** A kubectl that uses {@code kubeconfig} and keeps its caches in {@code directory}. */
    Kubectl(Path directory, Path kubeconfig) {
        this("kubectl", directory, kubeconfig);
    }

    /** As {@link #Kubectl(Path, Path)}, with a kubectl of another version. */
    Kubectl(String executable, Path directory, Path kubeconfig) {
        this.executable = executable;
        this.directory = directory;
        this.kubeconfig = kubeconfig;
    }

    /** The same, with a command that changes the file whose name is its last argument, in place of somebody who edits. */
    Kubectl editor(String command) {
        Kubectl other = new Kubectl(executable, directory, kubeconfig);
        other.editor = command;
        return other;
    }

    /** The result of a run of kubectl. */
    record Result(int code, String out, String err) {}

    /** Runs it and fails unless it exits with 0. */
    String ok(String... arguments) throws Exception {
        Result result = run(arguments);
        if (result.code != 0) {
            throw new AssertionError("kubectl " + String.join(" ", arguments) + " exited with " + result.code + ": "
                    + result.err + result.out);
        }
        return result.out;
    }

    /** Runs it with {@code input} in a file, whose name is the last argument; fails unless it exits with 0. */
    String okWith(String input, String... arguments) throws Exception {
        Path file = Files.writeString(Files.createTempFile(directory, "kubectl", ".yaml"), input);
        List<String> all = new ArrayList<>(List.of(arguments));
        all.add(file.toString());
        return ok(all.toArray(String[]::new));
    }

    /** Applies manifests; fails unless all are applied. */
    void apply(String... manifests) throws Exception {
        okWith(String.join("---\n", manifests), "apply", "-f");
    }

    /** Runs it. */
    Result run(String... arguments) throws Exception {
        Path out = Files.createTempFile(directory, "kubectl", ".out");
        Path err = Files.createTempFile(directory, "kubectl", ".err");
        Process process = start(out, err, arguments);
        if (!process.waitFor(60, TimeUnit.SECONDS)) {
            process.destroyForcibly();
            throw new AssertionError("kubectl " + String.join(" ", arguments) + " did not end within 60 s");
        }
        return new Result(process.exitValue(), Files.readString(out), Files.readString(err));
    }

    /** Starts it, for commands that run for long. */
    Process start(Path out, Path err, String... arguments) throws IOException {
        return start(ProcessBuilder.Redirect.to(out.toFile()), err, arguments);
    }

    /** The same, with an output that the caller reads from the process. */
    Process startPiped(Path err, String... arguments) throws IOException {
        return start(ProcessBuilder.Redirect.PIPE, err, arguments);
    }

    private Process start(ProcessBuilder.Redirect out, Path err, String... arguments) throws IOException {
        List<String> command = new ArrayList<>(List.of(executable, "--kubeconfig", kubeconfig.toString()));
        command.addAll(List.of("--cache-dir", directory.resolve("kubectl-cache").toString()));
        command.addAll(List.of(arguments));
        try {
            ProcessBuilder builder =
                    new ProcessBuilder(command).redirectOutput(out).redirectError(err.toFile());
            builder.environment().put("KUBE_EDITOR", editor);
            return builder.start();
        } catch (IOException e) {
            throw new IllegalStateException(
                    "kubectl is missing; install it (Debian: apt-get install kubernetes-client), or run ./test,"
                            + " which does",
                    e);
        }
    }
}
