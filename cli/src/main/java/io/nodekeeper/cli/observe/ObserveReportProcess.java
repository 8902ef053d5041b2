package io.nodekeeper.cli.observe;

import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.cli.command.CommandRunner;
import io.nodekeeper.cli.files.FileErrors;
import io.nodekeeper.cli.files.PrivateFiles;
import io.nodekeeper.cli.output.Printable;
import io.nodekeeper.cli.source.Answer;
import io.nodekeeper.cli.source.ControllerPages;
import io.nodekeeper.controller.history.FileHistory;
import io.nodekeeper.controller.history.PeriodQuery;
import io.nodekeeper.controller.observe.report.ObserveReport;
import io.nodekeeper.controller.observe.report.Period;
import io.nodekeeper.time.Clock;
import io.nodekeeper.time.GoDuration;
import io.nodekeeper.time.ThreadLoop;
import java.io.IOException;
import java.io.PrintWriter;
import java.net.URI;
import java.nio.file.FileSystemException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/** Gets the report from the controller or from its history, and writes it in the requested format. */
public final class ObserveReportProcess {
    private final ObserveReportCommand command;
    private final Clock clock;
    private final PrintWriter out;
    private final PrintWriter err;

    private ObserveReportProcess(ObserveReportCommand command, Clock clock, PrintWriter out, PrintWriter err) {
        this.command = command;
        this.clock = clock;
        this.out = out;
        this.err = err;
    }

    /** Writes the report; returns the exit code. */
    public static int run(ObserveReportCommand command, Clock clock, PrintWriter out, PrintWriter err)
            throws IOException {
        ObserveReportProcess process = new ObserveReportProcess(command, clock, out, err);
        process.write(process.report());
        return CommandRunner.OK;
    }

    private void write(JsonObject report) throws IOException {
        String text = switch (command.output) {
            case markdown -> MarkdownWriter.write(ReportDocument.of(report));
            case html -> HtmlWriter.write(ReportDocument.of(report));
            case json -> Printable.json(Json.writePretty(report)) + "\n";
        };
        if (command.outputFile.isPresent()) {
            write(command.outputFile.get(), text);
        } else {
            out.print(text);
            out.flush();
        }
    }

    private static void write(Path file, String text) throws IOException {
        try {
            PrivateFiles.writeSecret(file, text);
        } catch (FileSystemException e) {
            throw new IOException("cannot write --output-file " + FileErrors.text(e), e);
        } catch (IOException e) {
            throw new IOException("cannot write --output-file " + file + ": " + FileErrors.text(e), e);
        }
    }

    private JsonObject report() throws IOException {
        return command.historyDir.isPresent() ? fromFiles(command.historyDir.get()) : asked();
    }

    private JsonObject fromFiles(Path directory) throws IOException {
        Instant now = clock.wallTime();
        Period period = new Period(now.minus(command.since), now);
        PeriodQuery.Found found = FileHistory.read(
                directory,
                ObserveReport.query(period.from()),
                damage -> err.println("unreadable: " + ReportText.line(damage)));
        err.flush();
        JsonObject report = ObserveReport.of(found, period).with("source", "the history in " + directory);
        return new Links(command.pageUrl, List.of("--history-dir", directory.toString())).in(report);
    }

    private JsonObject asked() throws IOException {
        ThreadLoop loop = new ThreadLoop("observe-report");
        try (ControllerPages pages = new ControllerPages(command.source, loop, err)) {
            Answer answer = pages.get("/debug/observe-report?since=" + GoDuration.format(command.since));
            JsonObject report = answer.page()
                    .orElseThrow(() -> new IOException(answer.from()
                            + " has no observe report: it runs without --mode observe or guard, or is of an earlier"
                            + " version; expected the address of one that observes (--server) or its --history-dir"));
            return linked(report.with("source", answer.from()));
        } finally {
            loop.close();
        }
    }

    private JsonObject linked(JsonObject report) {
        Optional<URI> url = command.pageUrl.or(command.source::server);
        JsonObject known = url.isPresent() ? report : report.with("linksNeed", command.source.portForward());
        return new Links(Optional.of(url.orElseGet(command.source::forwarded)), command.source.flags()).in(known);
    }
}
