package io.nodekeeper.cli.replay;

import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.cli.command.CommandRunner;
import io.nodekeeper.cli.command.PartialReport;
import io.nodekeeper.cli.output.Logging;
import io.nodekeeper.cli.output.Output;
import io.nodekeeper.simulator.replay.Recording;
import io.nodekeeper.simulator.replay.ReplayReport;
import io.nodekeeper.simulator.replay.ReplayRun;
import io.nodekeeper.time.GoDuration;
import io.nodekeeper.time.SystemClock;
import io.nodekeeper.time.progress.Progress;
import io.nodekeeper.time.progress.ProgressDisplay;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;

/** Reads a recording, replays it, and prints the report. */
public final class ReplayProcess {
    /** The verbosity from which the replayed controller's log is shown. */
    private static final int LOGS = 4;

    private ReplayProcess() {}

    /** Replays; writes the report to {@code out} and progress to {@code err}, and returns the exit code. */
    public static int run(ReplayCommand command, PrintWriter out, PrintWriter err) throws IOException {
        return PartialReport.of("replay", err, ended -> run(command, out, err, ended));
    }

    /** The same, until {@code ended}. */
    static int run(ReplayCommand command, PrintWriter out, PrintWriter err, BooleanSupplier ended) throws IOException {
        if (command.logging.verbosity < LOGS) {
            Logging.mute();
        }
        AtomicReference<Progress> progress = new AtomicReference<>(Progress.endless("reading the recording"));
        Optional<ReplayReport> replayed = Optional.empty();
        try (ProgressDisplay display = command.progress.show("replay", err, progress::get)) {
            Optional<Recording> read = Recording.read(command.file.orElseThrow(), ended);
            if (read.isPresent()) {
                Recording recording = read.get();
                replayed = Optional.of(ReplayRun.run(
                        recording,
                        command.config(),
                        command.seed,
                        new SystemClock(),
                        elapsed -> progress.set(Progress.of(
                                GoDuration.format(elapsed) + " of " + GoDuration.format(recording.duration()),
                                elapsed.toMillis(),
                                recording.duration().toMillis())),
                        ended));
            }
        }
        if (replayed.isEmpty()) {
            JsonObject partial = JsonObject.builder().put("partial", true).build();
            out.print(
                    command.output == Output.json
                            ? Json.writePretty(partial) + "\n"
                            : "PARTIAL: interrupted while it read the recording\n");
            out.flush();
            return CommandRunner.INTERRUPTED;
        }
        ReplayReport report = replayed.get();
        out.print(command.output == Output.json ? Json.writePretty(report.json()) + "\n" : report.text());
        out.flush();
        return report.isPartial() ? CommandRunner.INTERRUPTED : CommandRunner.OK;
    }
}
