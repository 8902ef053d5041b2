package io.nodekeeper.cli.simulate;

import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.cli.command.CommandRunner;
import io.nodekeeper.cli.output.Logging;
import io.nodekeeper.cli.output.Output;
import io.nodekeeper.simulator.RandomRun;
import io.nodekeeper.simulator.Report;
import io.nodekeeper.simulator.lean.LeanReport;
import io.nodekeeper.simulator.lean.LeanRun;
import io.nodekeeper.simulator.lean.LeanRunOptions;
import io.nodekeeper.time.GoDuration;
import io.nodekeeper.time.SystemClock;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.time.Duration;
import java.util.function.Consumer;

/** Wires a simulation with its trace, progress and report. */
public final class SimulateProcess {
    /** The virtual time between two lines of progress: some lines for the default hour, 144 for a day. */
    private static final Duration PROGRESS = Duration.ofMinutes(10);
    /** How many broken invariants are shown: they fit a screen. The trace has all of them. */
    private static final int SHOWN = 20;
    /**
     * The verbosity from which the simulated processes' logs are shown. Not lower, because thousands of processes log a
     * lot.
     */
    private static final int LOGS = 4;

    private final SimulateCommand command;
    private final PrintWriter out;
    private final PrintWriter err;
    private int violations;

    private SimulateProcess(SimulateCommand command, PrintWriter out, PrintWriter err) {
        this.command = command;
        this.out = out;
        this.err = err;
    }

    /** Runs the simulation; writes the report to {@code out} and progress to {@code err}, and returns the exit code. */
    public static int run(SimulateCommand command, PrintWriter out, PrintWriter err) throws IOException {
        if (command.logging.verbosity < LOGS) {
            Logging.mute();
        }
        SimulateProcess process = new SimulateProcess(command, out, err);
        if (command.lean) {
            return process.simulateLean();
        }
        if (command.trace.isEmpty()) {
            return process.simulate(line -> {});
        }
        try (Writer file = Files.newBufferedWriter(command.trace.get(), StandardCharsets.UTF_8);
                PrintWriter lines = new PrintWriter(file)) {
            int code = process.simulate(line -> lines.print(line + "\n"));
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
                err.println(line);
            }
        };
        Report report = RandomRun.run(command.options(), new SystemClock(), lines, this::progress);
        return print(report.json(), report.text(), report.isGood());
    }

    private int simulateLean() {
        LeanReport report = LeanRun.run(new LeanRunOptions(command.nodes, command.seed), new SystemClock(), this::say);
        return print(report.json(), report.text(), report.isGood());
    }

    private int print(JsonObject json, String text, boolean good) {
        out.println(command.output == Output.json ? Json.writePretty(json) : text);
        out.flush();
        return good ? CommandRunner.OK : CommandRunner.FAILED;
    }

    private void say(String progress) {
        err.println(progress);
        err.flush();
    }

    private void progress(Duration elapsed) {
        if (elapsed.toNanos() % PROGRESS.toNanos() == 0) {
            say(GoDuration.format(elapsed) + " of " + GoDuration.format(command.duration) + " simulated");
        }
    }
}
