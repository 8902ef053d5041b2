package io.nodekeeper.it;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/** A Nodekeeper process. Its output goes to files beside its data, which failures quote. */
public final class Running implements AutoCloseable {
    /** Enough for thousands of hollow nodes to register on a machine that is busy with other things. */
    private static final Duration READY = Duration.ofSeconds(240);

    private final Process process;
    private final Path out;
    private final Path err;

    private Running(Process process, Path out, Path err) {
        this.process = process;
        this.out = out;
        this.err = err;
    }

    /**
     * Starts {@code nodekeeper arguments…}; output goes to {@code directory}. With the quick compiler alone: in the first
     * seconds of a process the better one takes as much processor time as all the rest.
     */
    static Running start(Path directory, String name, String... arguments) throws IOException {
        return startSmall(directory, name, List.of(arguments));
    }

    /** As {@link #start}. */
    public static Running startSmall(Path directory, String name, List<String> arguments) throws IOException {
        return start(directory, name, List.of("-XX:TieredStopAtLevel=1"), arguments);
    }

    /** As {@link #startSmall}, with more variables in its environment. */
    static Running startSmall(Path directory, String name, List<String> arguments, Map<String, String> environment)
            throws IOException {
        List<String> flags = List.of("-Xmx1g", "-XX:TieredStopAtLevel=1");
        return run(directory, name, QuickStart.command(dist(), flags, arguments), environment);
    }

    /** As {@link #startSmall}, as a process of {@code machine}. */
    static Running startIn(SystemdMachine machine, Path directory, String name, List<String> arguments)
            throws IOException {
        List<String> flags = List.of("-Xmx1g", "-XX:TieredStopAtLevel=1");
        return run(directory, name, machine.inside(QuickStart.command(dist(), flags, arguments)));
    }

    /** As {@link #start}, with both compilers, as the script does: for processes under load. */
    static Running startBig(Path directory, String name, String... arguments) throws IOException {
        return start(directory, name, List.of(), List.of(arguments));
    }

    /** Starts {@code count} hollow nodes whose names begin with {@code prefix}, in one process with both compilers. */
    static Running hollow(Path directory, Path kubeconfig, String prefix, int count, String... flags)
            throws IOException {
        return start(directory, prefix + "nodes", List.of(), hollowCommand(kubeconfig, prefix, count, flags));
    }

    /** As {@link #hollow}, with the quick compiler alone. */
    static Running hollowSmall(Path directory, Path kubeconfig, String prefix, int count, String... flags)
            throws IOException {
        return startSmall(directory, prefix + "nodes", hollowCommand(kubeconfig, prefix, count, flags));
    }

    /** Runs the script that users run, with its flags for Java: where it matters how small and quick a process is. */
    static Running byScript(Path directory, String name, String... arguments) throws IOException {
        return byScriptOf(dist().resolve("../../.."), directory, name, arguments);
    }

    /** The same of another checkout, which has been built. */
    static Running byScriptOf(Path checkout, Path directory, String name, String... arguments) throws IOException {
        Path dist = checkout.resolve("dist/target/nodekeeper");
        // Maven has just built what the script would build again; what it learned of earlier jars is of no use.
        Files.writeString(dist.resolve("built"), "");
        for (String learned : List.of("agent.aot", "nodekeeper.aot")) {
            if (!QuickStart.isOfItsJars(dist, dist.resolve(learned))) {
                Files.deleteIfExists(dist.resolve(learned));
            }
        }
        List<String> command = new ArrayList<>(
                List.of(checkout.resolve("nodekeeper").toRealPath().toString()));
        command.addAll(List.of(arguments));
        return run(directory, name, command);
    }

    private static List<String> hollowCommand(Path kubeconfig, String prefix, int count, String... flags) {
        List<String> command = new ArrayList<>(List.of(
                "hollow-nodes",
                "--kubeconfig",
                kubeconfig.toString(),
                "--prefix",
                prefix,
                "--count",
                Integer.toString(count)));
        command.addAll(List.of(flags));
        return command;
    }

    private static Running start(Path directory, String name, List<String> javaFlags, List<String> arguments)
            throws IOException {
        List<String> flags = new ArrayList<>(List.of("-Xmx1g"));
        flags.addAll(javaFlags);
        return run(directory, name, QuickStart.command(dist(), flags, arguments));
    }

    private static Path dist() {
        Path dist = Path.of(System.getProperty("nodekeeper.dist", "../dist/target/nodekeeper"));
        if (!Files.isDirectory(dist.resolve("lib"))) {
            throw new IllegalStateException("no distribution in " + dist.toAbsolutePath()
                    + "; build it first: mvn -DskipTests package -pl dist -am");
        }
        return dist;
    }

    private static Running run(Path directory, String name, List<String> command) throws IOException {
        return run(directory, name, command, Map.of());
    }

    private static Running run(Path directory, String name, List<String> command, Map<String, String> environment)
            throws IOException {
        // A process that is started again gets files of its own, so that its ready line is not the old one's.
        Path out = Files.createTempFile(directory, name + "-", ".out");
        Path err = Path.of(out.toString().replaceFirst("out$", "err"));
        ProcessBuilder builder = new ProcessBuilder(command)
                .redirectOutput(ProcessBuilder.Redirect.to(out.toFile()))
                .redirectError(ProcessBuilder.Redirect.to(err.toFile()));
        builder.environment().put("XDG_STATE_HOME", directory.resolve("state").toString());
        builder.environment().putAll(environment);
        Process process = builder.start();
        // A run that is broken off leaves nothing behind, least of all stopped processes.
        Runtime.getRuntime().addShutdownHook(new Thread(process::destroyForcibly, "kill " + name));
        return new Running(process, out, err);
    }

    /** Waits for the line that begins with {@code ready} and returns it. */
    public String awaitReady() throws Exception {
        String[] line = new String[1];
        Eventually.within(READY, () -> {
            Optional<String> ready = Files.readAllLines(out).stream()
                    .filter(text -> text.startsWith("ready"))
                    .reduce((first, last) -> last);
            line[0] = ready.orElse("");
            if (!process.isAlive()) {
                throw new AssertionError("the process ended with " + process.exitValue() + ": " + log());
            }
            return ready.isPresent();
        });
        return line[0];
    }

    /** The server's address in the ready line. */
    String awaitAddress() throws Exception {
        return awaitReady().split(" ")[1];
    }

    /** Sends a signal: STOP, CONT, KILL, TERM. */
    void signal(String name) throws Exception {
        new ProcessBuilder("kill", "-" + name, Long.toString(process.pid()))
                .start()
                .waitFor();
    }

    /** Ends it without giving it a chance. */
    public void kill() throws Exception {
        signal("KILL");
        process.waitFor();
    }

    /** Ends it as init would, and returns its exit code. */
    int terminate() throws Exception {
        signal("TERM");
        return awaitEnd();
    }

    /** Waits until it ends by itself, and returns its exit code. */
    public int awaitEnd() throws Exception {
        return awaitEnd(Duration.ofSeconds(30));
    }

    /** The same with another limit. */
    public int awaitEnd(Duration limit) throws Exception {
        if (!process.waitFor(limit.toMillis(), TimeUnit.MILLISECONDS)) {
            throw new AssertionError("the process did not end within " + limit.toSeconds() + " s: " + log());
        }
        return process.exitValue();
    }

    public long pid() {
        return process.pid();
    }

    /** Its standard output. */
    public String output() throws IOException {
        return Files.readString(out);
    }

    /** Its log. */
    public String log() throws IOException {
        return Files.readString(err);
    }

    @Override
    public void close() {
        process.destroyForcibly();
        try {
            // Its last system call, such as a mount, is over before others clean up. One that hangs in the kernel does
            // not end.
            process.waitFor(5, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
