package io.nodekeeper.cli.tune;

import io.nodekeeper.api.json.Json;
import io.nodekeeper.cli.command.CommandRunner;
import io.nodekeeper.cli.command.Faults;
import io.nodekeeper.cli.command.PartialReport;
import io.nodekeeper.cli.output.Logging;
import io.nodekeeper.cli.output.Output;
import io.nodekeeper.simulator.RandomRun;
import io.nodekeeper.simulator.RandomRunOptions;
import io.nodekeeper.simulator.Report;
import io.nodekeeper.simulator.replay.Recording;
import io.nodekeeper.simulator.replay.ReplayReport;
import io.nodekeeper.simulator.replay.ReplayRun;
import io.nodekeeper.simulator.tune.Candidate;
import io.nodekeeper.simulator.tune.Trial;
import io.nodekeeper.simulator.tune.TuneReport;
import io.nodekeeper.time.Clock;
import io.nodekeeper.time.GoDuration;
import io.nodekeeper.time.SystemClock;
import io.nodekeeper.time.progress.Progress;
import io.nodekeeper.time.progress.ProgressDisplay;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.BooleanSupplier;

/** Tries the candidates of a {@link TuneCommand} one after the other, and prints the report. */
public final class TuneProcess {
    private final TuneCommand command;
    private final PrintWriter out;
    private final List<Candidate> candidates;
    private final BooleanSupplier ended;
    private final Clock stopwatch = new SystemClock();
    private final ProgressDisplay display;
    private volatile Progress progress = Progress.endless("building the cluster");
    private int tried;

    private TuneProcess(TuneCommand command, PrintWriter out, PrintWriter err, BooleanSupplier ended) {
        this.command = command;
        this.out = out;
        this.ended = ended;
        candidates = command.candidates(new Faults());
        display = command.progress.show("tune", err, () -> progress);
    }

    /** Tries all candidates; writes the report to {@code out} and progress to {@code err}, and returns the exit code. */
    public static int run(TuneCommand command, PrintWriter out, PrintWriter err) throws IOException {
        return PartialReport.of("tune", err, ended -> run(command, out, err, ended));
    }

    /** The same, until {@code ended}. */
    static int run(TuneCommand command, PrintWriter out, PrintWriter err, BooleanSupplier ended) throws IOException {
        // Thousands of simulated processes log a lot.
        Logging.mute();
        TuneProcess process = new TuneProcess(command, out, err, ended);
        try {
            return process.run();
        } finally {
            process.display.close();
        }
    }

    private int run() throws IOException {
        TuneReport report = command.recording.isPresent() ? replay(command.recording.get()) : simulate();
        display.close();
        out.println(command.output == Output.json ? Json.writePretty(report.json()) : report.text());
        out.flush();
        if (report.isPartial()) {
            return CommandRunner.INTERRUPTED;
        }
        return report.isGood() ? CommandRunner.OK : CommandRunner.FAILED;
    }

    private TuneReport replay(Path path) throws IOException {
        progress = Progress.endless("reading " + path);
        Optional<Recording> read = Recording.read(path, ended);
        if (read.isEmpty()) {
            return new TuneReport(path + ", which was not read to its end", command.soon, candidates.size(), List.of());
        }
        Recording recording = read.get();
        String source = String.format(
                Locale.ROOT,
                "%s: %s of %d nodes, %d renewals",
                path,
                GoDuration.format(Duration.ofSeconds(recording.duration().toSeconds())),
                recording.nodes(),
                recording.renewals());
        return TuneReport.of(
                source,
                command.soon,
                candidates,
                candidate -> {
                    ReplayReport report = ReplayRun.run(
                            recording,
                            candidate.config(),
                            command.simulation.seed,
                            stopwatch,
                            elapsed -> reached(0, elapsed, recording.duration(), 1),
                            ended);
                    tried++;
                    return report.isPartial()
                            ? Optional.empty()
                            : Optional.of(Trial.replayed(candidate, report, command.soon));
                },
                ended);
    }

    private TuneReport simulate() {
        RandomRunOptions options = command.options();
        String source = String.format(
                Locale.ROOT,
                "%d simulated nodes for %s, %d runs with seeds from %d, %s outages of nodes and %s faults of the control"
                        + " plane per hour",
                options.nodes(),
                GoDuration.format(options.duration()),
                command.runs,
                options.seed(),
                Faults.number(options.crashesPerHour()),
                Faults.number(options.controlFaultsPerHour()));
        return TuneReport.of(
                source,
                command.soon,
                candidates,
                candidate -> {
                    List<Report> reports = new ArrayList<>();
                    for (int run = 0; run < command.runs && !ended.getAsBoolean(); run++) {
                        int before = run;
                        reports.add(RandomRun.run(
                                options.with(candidate.config(), candidate.leaseDurationSeconds())
                                        .withSeed(options.seed() + run),
                                stopwatch,
                                line -> {},
                                elapsed -> reached(before, elapsed, options.duration(), command.runs),
                                ended));
                    }
                    tried++;
                    boolean whole =
                            reports.size() == command.runs && reports.stream().noneMatch(Report::isPartial);
                    return whole
                            ? Optional.of(Trial.simulated(candidate, reports, command.soon))
                            : Optional.<Trial>empty();
                },
                ended);
    }

    private void reached(int run, Duration elapsed, Duration duration, int runs) {
        progress = new Progress(
                "candidate " + (tried + 1) + " of " + candidates.size(),
                GoDuration.format(elapsed) + " of " + GoDuration.format(duration),
                ((double) tried * runs + run) * duration.toMillis() + elapsed.toMillis(),
                (double) candidates.size() * runs * duration.toMillis());
    }
}
