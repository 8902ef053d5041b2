package io.nodekeeper.cli.simulate;

import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.cli.command.CommandRunner;
import io.nodekeeper.cli.output.Logging;
import io.nodekeeper.cli.output.Output;
import io.nodekeeper.simulator.LeanReport;
import io.nodekeeper.simulator.LeanRun;
import io.nodekeeper.simulator.RandomRun;
import io.nodekeeper.simulator.Report;
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

/** The wiring of a simulation: its trace, its progress and its report. */
public final class SimulateProcess {
    /** Between two words of progress, in virtual time. Chosen. */
    private static final Duration PROGRESS = Duration.ofMinutes(10);
    /** Broken invariants that are shown; the trace has all of them. Chosen. */
    private static final int SHOWN = 20;
    /** From this on the simulated processes' own logs are shown. Chosen: thousands of them say much. */
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

    /** Runs to the end: the report goes to {@code out}, progress to {@code err}; returns the exit code. */
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
        LeanReport report = LeanRun.run(new LeanRun.Options(command.nodes, command.seed), new SystemClock(), this::say);
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
