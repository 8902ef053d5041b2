package io.nodekeeper.cli.doctor;

import io.nodekeeper.agent.culprit.Checkup;
import io.nodekeeper.agent.culprit.Findings;
import io.nodekeeper.agent.culprit.repair.LinuxHost;
import io.nodekeeper.agent.culprit.repair.Repair;
import io.nodekeeper.agent.culprit.repair.RepairPlan;
import io.nodekeeper.agent.culprit.scan.LinuxProcesses;
import io.nodekeeper.api.json.Json;
import io.nodekeeper.cli.command.CommandRunner;
import io.nodekeeper.cli.doctor.bundle.BundleWriter;
import io.nodekeeper.cli.doctor.node.CheckResult;
import io.nodekeeper.cli.doctor.node.NodeCheckup;
import io.nodekeeper.cli.output.Output;
import io.nodekeeper.cli.output.Printable;
import io.nodekeeper.cri.ContainerRuntime;
import io.nodekeeper.time.Futures;
import io.nodekeeper.time.Loop;
import io.nodekeeper.time.ThreadLoop;
import io.nodekeeper.time.Workers;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.Supplier;

/** Examines the node's container runtime, applies remedies if requested, and prints the report. */
public final class DoctorProcess {
    /**
     * The exit code if {@code --fix} was given, the node is not healthy, and nothing was applied: none with which Java ends, as it
     * does with 3 if it has too little memory.
     */
    static final int NOTHING_APPLIED = 4;

    /**
     * The times of a run.
     *
     * @param recovery how long a repaired runtime gets to answer the calls that waited, before it is examined again
     */
    record Times(Checkup.Times checkup, Duration recovery) {
        /** Answers of a runtime take milliseconds, and a person waits. */
        static final Times USUAL = new Times(Checkup.Times.DOCTOR, Duration.ofSeconds(2));
    }

    private final DoctorCommand command;
    private final ContainerRuntime runtime;
    private final Loop loop;
    private final Workers workers;
    private final LinuxProcesses processes;
    private final Times times;
    private final Confirmation confirmation;
    private final PrintWriter err;
    private final Repair.Examiner examiner;
    private final NodeCheckup node;

    private DoctorProcess(
            DoctorCommand command,
            ContainerRuntime runtime,
            Loop loop,
            Workers workers,
            Times times,
            Confirmation confirmation,
            NodeCheckup node,
            PrintWriter err) {
        this.node = node;
        this.command = command;
        this.runtime = runtime;
        this.loop = loop;
        this.workers = workers;
        this.processes = new LinuxProcesses(Path.of("/"), command.socket(), workers, loop.clock());
        this.times = times;
        this.confirmation = confirmation;
        this.err = err;
        this.examiner = new Examinations();
    }

    /** Examinations of the runtime, one after the other. */
    private final class Examinations implements Repair.Examiner {
        private Optional<Checkup> last = Optional.empty();

        @Override
        public CompletableFuture<Findings> examine() {
            Checkup next = new Checkup(
                    runtime,
                    processes,
                    command.socket().toString(),
                    loop,
                    command.timeout,
                    times.checkup,
                    DoctorProcess.this::say);
            last = Optional.of(next);
            return next.run();
        }

        @Override
        public CompletableFuture<Findings> rescan() {
            return last.map(Checkup::rescan).orElseGet(this::examine);
        }
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
        return run(
                command,
                connect,
                Times.USUAL,
                Confirmation.terminal(err),
                loop -> NodeCheckup.ofThisMachine(loop, command.kubeconfig, command.healthPort),
                out,
                err);
    }

    static int run(
            DoctorCommand command,
            BiFunction<Path, Loop, ContainerRuntime> connect,
            Times times,
            Confirmation confirmation,
            Function<Loop, NodeCheckup> checkup,
            PrintWriter out,
            PrintWriter err)
            throws Exception {
        ThreadLoop loop = new ThreadLoop("doctor");
        Workers workers = new Workers("doctor-proc", 3, loop);
        ContainerRuntime runtime = connect.apply(command.socket(), loop);
        try (NodeCheckup node = checkup.apply(loop)) {
            return new DoctorProcess(command, runtime, loop, workers, times, confirmation, node, err).examine(out);
        } finally {
            if (runtime instanceof AutoCloseable closeable) {
                closeable.close();
            }
            workers.close();
            loop.close();
        }
    }

    private int examine(PrintWriter out) throws InterruptedException, ExecutionException, IOException {
        // The node is checked while the runtime is examined.
        CompletableFuture<List<CheckResult>> checks = node.run();
        Findings findings = onLoop(examiner::examine);
        DoctorReport report = DoctorReport.of(findings);
        boolean applied = false;
        if (command.fix) {
            RepairPlan plan = RepairPlan.of(findings, command.force);
            Optional<Repair.Result> repaired = repair(plan, findings);
            applied = repaired.filter(Repair.Result::changedSomething).isPresent();
            report = repaired.map(result -> DoctorReport.of(result.findings()).with(result.attempts()))
                    .orElse(report)
                    .with(plan);
            findings = repaired.map(Repair.Result::findings).orElse(findings);
        }
        report = report.withNode(checks.get());
        Instant now = loop.clock().wallTime();
        out.print(
                command.output == Output.json
                        ? Printable.json(Json.writePretty(report.json(now))) + "\n"
                        : report.text(now));
        out.flush();
        if (command.bundle.isPresent()) {
            say("collecting the evidence");
            BundleWriter writer = new BundleWriter(command.bundle.get(), command.healthPort, loop);
            say(writer.write(report.text(now), Json.writePretty(report.json(now)) + "\n", findings, node.reads()));
        }
        if (report.healthy()) {
            return CommandRunner.OK;
        }
        return command.fix && !applied ? NOTHING_APPLIED : CommandRunner.FAILED;
    }

    /** Applies the plan if it is confirmed. Empty if it is not, or if it applies nothing. */
    private Optional<Repair.Result> repair(RepairPlan plan, Findings findings)
            throws InterruptedException, ExecutionException {
        if (!plan.applies()) {
            return Optional.empty();
        }
        DoctorReport.plan(plan).forEach(this::say);
        boolean asked = false;
        if (!command.yes) {
            Optional<Boolean> answer = confirmation.ask("Apply these remedies? [y/N] ");
            if (answer.isEmpty()) {
                say("nothing is applied: standard input or output is no terminal; --yes applies the plan");
            }
            if (!answer.orElse(false)) {
                return Optional.empty();
            }
            asked = true;
        }
        // The answer may have taken minutes.
        Findings now = asked ? onLoop(examiner::examine) : findings;
        Repair repair =
                new Repair(plan, examiner, runtime, new LinuxHost(processes), workers, loop, times.recovery, this::say);
        return Optional.of(onLoop(() -> repair.run(now)));
    }

    private <T> T onLoop(Supplier<CompletableFuture<T>> action) throws InterruptedException, ExecutionException {
        // Every call that this waits for has a deadline, so this wait ends.
        return Futures.startOn(loop, action).get();
    }

    private void say(String text) {
        err.println(Printable.line(text));
        err.flush();
    }
}
