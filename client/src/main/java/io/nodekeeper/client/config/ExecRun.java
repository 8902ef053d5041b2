package io.nodekeeper.client.config;

import io.nodekeeper.api.Failures;
import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.client.config.ExecPlugin.Interaction;
import io.nodekeeper.time.Deadlines;
import io.nodekeeper.time.GoDuration;
import io.nodekeeper.time.Loop;
import io.nodekeeper.time.Workers;
import java.io.ByteArrayOutputStream;
import java.io.Console;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/**
 * Runs a credential plugin: with a deadline, a limit of its output, and one line that says what went wrong. A plugin that
 * hangs is killed with its children. With a terminal, it may ask the person there; without one, the last line that it writes
 * to standard error is part of the message. Confined to a loop, except {@link #close}.
 */
public final class ExecRun implements AutoCloseable {
    /** The most bytes of output. A token has some KB, a chain of certificates with its key some 10 KB. */
    static final int LONGEST = 1 << 20;
    /** The deadline without a terminal: plugins call their cloud, some over several attempts. */
    static final Duration DEADLINE = Duration.ofMinutes(1);
    /** The deadline with a terminal, at which a person may have to log in in a browser. */
    static final Duration LOGIN = Duration.ofMinutes(5);

    /** After its end, what a plugin has written arrives in this time, unless another process keeps the pipe open. */
    private static final Duration REST = Duration.ofSeconds(5);
    /** The bytes of standard error that are read for the message; the others are dropped. */
    private static final int ERRORS = 1 << 16;
    /** The most characters of standard error in a message. */
    private static final int QUOTED = 200;

    private final ExecPlugin plugin;
    private final Loop loop;
    private final boolean terminal;
    private final Duration deadline;
    /** Two readers for a run, and as many that may wait for a pipe that another process keeps open. */
    private final Workers readers;

    private volatile Optional<Process> running = Optional.empty();

    /** Runs of {@code plugin}; timed by {@code loop}. */
    public ExecRun(ExecPlugin plugin, Loop loop) {
        this(plugin, loop, hasTerminal(), hasTerminal() ? LOGIN : DEADLINE);
    }

    ExecRun(ExecPlugin plugin, Loop loop, boolean terminal, Duration deadline) {
        this.plugin = plugin;
        this.loop = loop;
        this.terminal = terminal && plugin.interaction() != Interaction.Never;
        this.deadline = deadline;
        this.readers = new Workers("credential-plugin", 4, loop);
    }

    private static boolean hasTerminal() {
        Console console = System.console();
        return console != null && console.isTerminal();
    }

    /** Runs the plugin once; fails with {@link CredentialException}. */
    public CompletableFuture<ExecCredential> run() {
        if (plugin.interaction() == Interaction.Always && !terminal) {
            return failed("needs a terminal, and there is none (interactiveMode Always)");
        }
        Process process;
        try {
            process = builder().start();
        } catch (IOException e) {
            Throwable cause = e.getCause() == null ? e : e.getCause();
            return failed("cannot be run: " + printable(Failures.text(cause))
                    + (plugin.installHint().isEmpty() ? "" : "\n" + plugin.installHint()));
        }
        running = Optional.of(process);
        Duration longest = deadline.plus(REST);
        ByteArrayOutputStream output = new ByteArrayOutputStream();
        CompletableFuture<Boolean> read = readers.call("output", longest, () -> read(process, output));
        CompletableFuture<String> errors = readers.call("errors", longest, () -> lastLine(process.getErrorStream()));
        return Deadlines.within(loop, deadline, "plugin", process.onExit())
                .handleAsync(
                        (ended, late) -> {
                            if (late != null) {
                                kill(process);
                            }
                            return soon(errors)
                                    .exceptionally(error -> "")
                                    .thenCompose(line -> late == null
                                            ? soon(read)
                                                    // A process that it has left behind keeps the pipe open.
                                                    .exceptionally(error -> false)
                                                    .thenCompose(end ->
                                                            credential(output.toByteArray(), process.exitValue(), line))
                                            : failed("did not end within " + GoDuration.format(deadline) + line));
                        },
                        loop)
                .thenCompose(result -> result);
    }

    /** Reads the output to its end; a plugin that prints too much is killed. */
    private static boolean read(Process process, ByteArrayOutputStream output) throws IOException {
        InputStream in = process.getInputStream();
        byte[] part = new byte[8192];
        int count = in.read(part);
        while (count >= 0 && output.size() <= LONGEST) {
            output.write(part, 0, count);
            count = in.read(part);
        }
        if (output.size() > LONGEST) {
            kill(process);
        }
        return true;
    }

    private <T> CompletableFuture<T> soon(CompletableFuture<T> read) {
        return Deadlines.within(loop, REST, "output", read);
    }

    private CompletableFuture<ExecCredential> credential(byte[] output, int code, String line) {
        if (output.length > LONGEST) {
            return failed("printed more than " + LONGEST + " bytes, which is the limit");
        }
        if (code != 0) {
            return failed("exited with " + code + line);
        }
        try {
            return CompletableFuture.completedFuture(ExecCredential.parse(output, plugin.apiVersion()));
        } catch (IllegalArgumentException e) {
            return failed(Failures.text(e));
        }
    }

    private ProcessBuilder builder() {
        ProcessBuilder builder = new ProcessBuilder(plugin.command());
        builder.environment().putAll(plugin.environment());
        JsonObject.Builder spec = JsonObject.builder().put("interactive", terminal);
        if (!plugin.cluster().isEmpty()) {
            spec.put("cluster", plugin.cluster());
        }
        JsonObject info = JsonObject.builder()
                .put("apiVersion", plugin.apiVersion())
                .put("kind", "ExecCredential")
                .put("spec", spec.build())
                .build();
        builder.environment().put("KUBERNETES_EXEC_INFO", Json.write(info));
        builder.redirectInput(
                terminal ? ProcessBuilder.Redirect.INHERIT : ProcessBuilder.Redirect.from(new File("/dev/null")));
        if (terminal) {
            builder.redirectError(ProcessBuilder.Redirect.INHERIT);
        }
        return builder;
    }

    /** Reads all, so that the plugin can go on writing; the last line that is not empty, with a colon before it. */
    private static String lastLine(InputStream errors) throws IOException {
        String text = new String(errors.readNBytes(ERRORS), StandardCharsets.UTF_8);
        errors.transferTo(OutputStream.nullOutputStream());
        return text.lines()
                .map(ExecRun::printable)
                .filter(line -> !line.isEmpty())
                .reduce((earlier, later) -> later)
                .map(line -> ": " + line)
                .orElse("");
    }

    private static String printable(String text) {
        String line = text.replaceAll("[\\p{Cntrl} ]+", " ").strip();
        return line.length() <= QUOTED ? line : line.substring(0, QUOTED) + " ...";
    }

    private <T> CompletableFuture<T> failed(String what) {
        return CompletableFuture.failedFuture(new CredentialException(plugin + " " + what));
    }

    private static void kill(Process process) {
        process.descendants().forEach(ProcessHandle::destroyForcibly);
        process.destroyForcibly();
    }

    /** Kills the plugin, if it runs, and frees the threads. */
    @Override
    public void close() {
        running.filter(Process::isAlive).ifPresent(ExecRun::kill);
        readers.close();
    }
}
