package io.nodekeeper.cli.simulate;

import io.nodekeeper.api.Failures;
import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.cli.command.CommandRunner;
import io.nodekeeper.cli.command.PartialReport;
import io.nodekeeper.cli.output.Logging;
import io.nodekeeper.cli.output.Output;
import io.nodekeeper.client.files.SmallFiles;
import io.nodekeeper.simulator.Exploration;
import io.nodekeeper.simulator.RandomRun;
import io.nodekeeper.simulator.Report;
import io.nodekeeper.simulator.Scenario;
import io.nodekeeper.simulator.lean.LeanPhase;
import io.nodekeeper.simulator.lean.LeanProgress;
import io.nodekeeper.simulator.lean.LeanReport;
import io.nodekeeper.simulator.lean.LeanRun;
import io.nodekeeper.simulator.lean.LeanRunOptions;
import io.nodekeeper.time.Clock;
import io.nodekeeper.time.GoDuration;
import io.nodekeeper.time.SystemClock;
import io.nodekeeper.time.progress.Progress;
import io.nodekeeper.time.progress.ProgressDisplay;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

/** Wires a simulation with its trace, progress and report. */
public final class SimulateProcess {
    /** How many broken invariants are shown: they fit a screen. The trace has all of them. */
    private static final int SHOWN = 20;
    /**
     * The verbosity from which the simulated processes' logs are shown. Not lower, because thousands of processes log a
     * lot.
     */
    private static final int LOGS = 4;

    private final SimulateCommand command;
    private final PrintWriter out;
    private final ProgressDisplay display;
    private final BooleanSupplier ended;
    private volatile Progress progress = Progress.endless("building the cluster");
    private int violations;

    private SimulateProcess(SimulateCommand command, PrintWriter out, PrintWriter err, BooleanSupplier ended) {
        this.command = command;
        this.out = out;
        this.ended = ended;
        display = command.progress.show("simulate", err, () -> progress);
    }

    /**
     * Runs the simulation; writes the report to {@code out} and progress to {@code err}, and returns the exit code. After a
     * signal the report is partial.
     */
    public static int run(SimulateCommand command, PrintWriter out, PrintWriter err) throws IOException {
        return PartialReport.of("simulate", err, ended -> run(command, out, err, ended));
    }

    /** The same, until {@code ended}. */
    static int run(SimulateCommand command, PrintWriter out, PrintWriter err, BooleanSupplier ended)
            throws IOException {
        if (command.logging.verbosity < LOGS) {
            Logging.mute();
        }
        SimulateProcess process = new SimulateProcess(command, out, err, ended);
        try {
            return process.run();
        } finally {
            process.display.close();
        }
    }

    private int run() throws IOException {
        if (command.lean) {
            return simulateLean();
        }
        if (command.scenario.isPresent()) {
            return play(command.scenario.get());
        }
        if (command.explore.isPresent()) {
            return explore(command.explore.get());
        }
        if (command.trace.isEmpty()) {
            return simulate(line -> {});
        }
        try (Writer file = Files.newBufferedWriter(command.trace.get(), StandardCharsets.UTF_8);
                PrintWriter lines = new PrintWriter(file)) {
            int code = simulate(line -> lines.print(line + "\n"));
            if (lines.checkError()) {
                throw new IOException("the trace could not be written to " + command.trace.get());
            }
            return code;
        } catch (FileSystemException e) {
            throw new IOException("cannot write --trace", e);
        }
    }

    private int simulate(Consumer<String> trace) {
        Consumer<String> lines = line -> {
            trace.accept(line);
            if (line.contains("VIOLATION") && violations++ < SHOWN) {
                display.say(line);
            }
        };
        Consumer<Duration> reached = elapsed -> progress = Progress.of(
                of(elapsed, command.simulation.duration) + " of virtual time",
                elapsed.toMillis(),
                command.simulation.duration.toMillis());
        Report report = RandomRun.run(command.options(), new SystemClock(), lines, reached, ended);
        return print(report.json(), report.text(), report.isGood(), report.isPartial());
    }

    private int simulateLean() {
        Consumer<LeanProgress> reached = at -> progress = new Progress(
                "step " + (at.phase().ordinal() + 1) + " of " + LeanPhase.values().length + ", "
                        + at.phase().text(),
                of(at.simulated(), at.duration()) + " of virtual time",
                at.simulated().toMillis(),
                at.duration().toMillis());
        LeanReport report = LeanRun.run(
                new LeanRunOptions(command.nodes, command.simulation.seed), new SystemClock(), reached, ended);
        return print(report.json(), report.text(), report.isGood(), report.partial());
    }

    private int play(Path file) throws IOException {
        progress = Progress.endless("running " + file);
        String script = SmallFiles.text(file);
        Scenario.Result result;
        try {
            result = Scenario.run(script, ended);
        } catch (IllegalArgumentException e) {
            throw new IOException(file + ": " + Failures.text(e), e);
        }
        display.close();
        out.print(result.text());
        out.flush();
        if (result.partial()) {
            return CommandRunner.INTERRUPTED;
        }
        return result.isGood() ? CommandRunner.OK : CommandRunner.FAILED;
    }

    private int explore(int runs) {
        Clock stopwatch = new SystemClock();
        Exploration found = Exploration.of(
                command.options(),
                command.configured(),
                runs,
                stopwatch,
                options -> {
                    long before = options.seed() - command.simulation.seed;
                    Consumer<Duration> reached = elapsed -> progress = new Progress(
                            "run " + (before + 1) + " of " + runs + ", seed " + options.seed(),
                            of(elapsed, command.simulation.duration) + " of virtual time",
                            before * command.simulation.duration.toMillis() + elapsed.toMillis(),
                            runs * command.simulation.duration.toMillis());
                    return RandomRun.run(options, stopwatch, line -> {}, reached, ended);
                },
                ended);
        return print(found.json(), found.text(), found.isGood(), found.isPartial());
    }

    private static String of(Duration done, Duration whole) {
        return GoDuration.format(done) + " of " + GoDuration.format(whole);
    }

    private int print(JsonObject json, String text, boolean good, boolean partial) {
        display.close();
        out.println(command.output == Output.json ? Json.writePretty(json) : text);
        out.flush();
        if (partial) {
            return CommandRunner.INTERRUPTED;
        }
        return good ? CommandRunner.OK : CommandRunner.FAILED;
    }
}
