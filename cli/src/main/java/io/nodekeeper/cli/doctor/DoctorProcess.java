package io.nodekeeper.cli.doctor;

import io.nodekeeper.agent.culprit.Checkup;
import io.nodekeeper.agent.culprit.Findings;
import io.nodekeeper.agent.culprit.Remedies;
import io.nodekeeper.agent.culprit.Signals;
import io.nodekeeper.agent.culprit.diagnosis.Culprit;
import io.nodekeeper.agent.culprit.diagnosis.Remedy;
import io.nodekeeper.agent.culprit.scan.LinuxProcesses;
import io.nodekeeper.api.json.Json;
import io.nodekeeper.cli.command.CommandRunner;
import io.nodekeeper.cli.output.Output;
import io.nodekeeper.cri.ContainerRuntime;
import io.nodekeeper.time.Deadlines;
import io.nodekeeper.time.Loop;
import io.nodekeeper.time.ThreadLoop;
import io.nodekeeper.time.Workers;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.function.BiFunction;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/** Examines the node's container runtime, applies remedies if requested, and prints the report. */
public final class DoctorProcess {
    /**
     * How long a repaired runtime gets to answer the calls that waited, before it is examined again: its answers take
     * milliseconds, and a person waits.
     */
    private static final Duration RECOVERY = Duration.ofSeconds(2);

    private final DoctorCommand command;
    private final ContainerRuntime runtime;
    private final Loop loop;
    private final LinuxProcesses processes;
    private final PrintWriter err;

    private DoctorProcess(
            DoctorCommand command, ContainerRuntime runtime, Loop loop, LinuxProcesses processes, PrintWriter err) {
        this.command = command;
        this.runtime = runtime;
        this.loop = loop;
        this.processes = processes;
        this.err = err;
    }

    /**
     * Prints the report and returns the exit code.
     *
     * @param connect creates a client of the runtime at a socket, which completes its results on a loop; closed
     *     afterwards if it is closeable
     */
    public static int run(
            DoctorCommand command, BiFunction<Path, Loop, ContainerRuntime> connect, PrintWriter out, PrintWriter err)
            throws Exception {
        ThreadLoop loop = new ThreadLoop("doctor");
        Workers workers = new Workers("doctor-proc", 3, loop);
        ContainerRuntime runtime = connect.apply(command.socket(), loop);
        try {
            LinuxProcesses processes = new LinuxProcesses(Path.of("/"), command.socket(), workers);
            return new DoctorProcess(command, runtime, loop, processes, err).examine(out);
        } finally {
            if (runtime instanceof AutoCloseable closeable) {
                closeable.close();
            }
            workers.close();
            loop.close();
        }
    }

    private int examine(PrintWriter out) throws InterruptedException, ExecutionException {
        Findings findings = checkup();
        List<String> done = new ArrayList<>();
        if (command.fix && !findings.culprits().isEmpty()) {
            done.addAll(fix(findings));
            findings = checkup();
        }
        out.print(
                command.output == Output.json
                        ? Json.writePretty(DoctorReport.json(findings, done)) + "\n"
                        : DoctorReport.text(findings, done, loop.clock().wallTime()));
        out.flush();
        return findings.culprits().isEmpty() && findings.processError().isEmpty()
                ? CommandRunner.OK
                : CommandRunner.FAILED;
    }

    /**
     * Signals processes first. A removal costs a pod, so it needs a second examination: the signal may have freed the
     * call.
     */
    private List<String> fix(Findings findings) throws InterruptedException, ExecutionException {
        Remedies remedies = new Remedies(runtime, processes::lives, Signals::send);
        Set<Remedy> removals = removals(findings);
        List<String> done = new ArrayList<>();
        for (Remedy remedy : remedies(findings)) {
            if (!removals.contains(remedy)) {
                apply(remedies, remedy, done);
            }
        }
        recover();
        if (!removals.isEmpty()) {
            for (Remedy removal : confirmed(removals, removals(checkup()), done)) {
                apply(remedies, removal, done);
                recover();
            }
        }
        return done;
    }

    /** The removal to make, if any, of those in the first report. Adds to {@code done} why others are not made. */
    static List<Remedy> confirmed(Set<Remedy> first, Set<Remedy> again, List<String> done) {
        first.stream()
                .filter(removal -> !again.contains(removal))
                .forEach(removal -> done.add("no longer needed: " + removal.text()));
        if (again.size() > 1) {
            done.add("removed no sandbox: it would cost " + again.size()
                    + " pods, and that is more than one hung container; restart the container runtime instead");
            return List.of();
        }
        return again.stream().filter(first::contains).toList();
    }

    private static Set<Remedy> remedies(Findings findings) {
        return findings.culprits().stream().map(Culprit::remedy).collect(Collectors.toCollection(LinkedHashSet::new));
    }

    private static Set<Remedy> removals(Findings findings) {
        return remedies(findings).stream()
                .filter(Remedy.RemoveSandbox.class::isInstance)
                .collect(Collectors.toCollection(LinkedHashSet::new));
    }

    private void apply(Remedies remedies, Remedy remedy, List<String> done)
            throws InterruptedException, ExecutionException {
        say(remedy.text());
        done.addAll(onLoop(() -> remedies.apply(remedy)));
    }

    private void recover() throws InterruptedException, ExecutionException {
        onLoop(() -> Deadlines.sleep(loop, RECOVERY));
    }

    private Findings checkup() throws InterruptedException, ExecutionException {
        return onLoop(() ->
                new Checkup(runtime, processes, command.socket().toString(), loop, command.timeout, this::say).run());
    }

    private <T> T onLoop(Supplier<CompletableFuture<T>> action) throws InterruptedException, ExecutionException {
        // Every call that this waits for has a deadline, so this wait ends.
        return CompletableFuture.supplyAsync(action, loop)
                .thenCompose(started -> started)
                .get();
    }

    private void say(String text) {
        err.println(text);
        err.flush();
    }
}
