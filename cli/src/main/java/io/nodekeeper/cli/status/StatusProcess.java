package io.nodekeeper.cli.status;

import io.nodekeeper.api.Failures;
import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.api.yaml.Yaml;
import io.nodekeeper.cli.command.CommandRunner;
import io.nodekeeper.cli.output.Printable;
import io.nodekeeper.cli.source.Answer;
import io.nodekeeper.cli.source.ControllerPages;
import io.nodekeeper.client.config.KubeconfigException;
import io.nodekeeper.time.Deadlines;
import io.nodekeeper.time.ThreadLoop;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;

/** Reads the controller's status page and prints it, once or again and again. */
public final class StatusProcess {
    private final StatusCommand command;
    private final Palette palette;
    private final PrintWriter out;
    private final PrintWriter err;
    private final ThreadLoop loop = new ThreadLoop("status");

    private StatusProcess(StatusCommand command, Palette palette, PrintWriter out, PrintWriter err) {
        this.command = command;
        this.palette = palette;
        this.out = out;
        this.err = err;
    }

    /** Prints the status; with {@code --watch} again and again until its output is closed. Returns the exit code. */
    public static int run(StatusCommand command, PrintWriter out, PrintWriter err) throws IOException {
        return run(command, Palette.of(System.getenv(), System.console()), out, err);
    }

    static int run(StatusCommand command, Palette palette, PrintWriter out, PrintWriter err) throws IOException {
        StatusProcess process = new StatusProcess(command, palette, out, err);
        try {
            return command.watch ? process.watch() : process.print(process.status());
        } finally {
            process.loop.close();
        }
    }

    /** A connection for each answer: the leader may be another one by then. */
    private String status() throws IOException {
        try (ControllerPages pages = new ControllerPages(command.source, loop, err)) {
            Answer answer = pages.get("/debug/status");
            JsonObject page = answer.page()
                    .orElseThrow(() ->
                            new IOException(answer.from() + " has no page /debug/status; it is of an earlier version"));
            if (answer.notWorking().isPresent()) {
                throw new IOException(
                        answer.from() + " does not work: " + answer.notWorking().get());
            }
            // Only a guard has that page.
            JsonObject all = pages.get("/debug/guard")
                    .page()
                    .map(guard -> page.with("guard", guard))
                    .orElse(page);
            return switch (command.output) {
                case json -> Printable.json(Json.writePretty(all)) + "\n";
                case yaml -> new String(Yaml.write(all), StandardCharsets.UTF_8);
                case text -> StatusReport.of(all, answer.from(), false, palette);
                case wide -> StatusReport.of(all, answer.from(), true, palette);
            };
        }
    }

    private int print(String text) {
        out.print(text);
        out.flush();
        return CommandRunner.OK;
    }

    /**
     * For people, a failed answer is shown in its place, because a controller that is replaced answers again soon.
     * Programs get answers only.
     */
    private int watch() {
        boolean first = true;
        while (!out.checkError()) {
            try {
                print(separator(first) + status());
                first = false;
            } catch (KubeconfigException e) {
                // What is wrong from the start stays so. Later somebody may be replacing a file.
                if (first) {
                    throw e;
                }
                show(e, false);
            } catch (IOException e) {
                first &= !show(e, first);
            }
            Deadlines.sleep(loop, command.interval).join();
        }
        return CommandRunner.OK;
    }

    /** Shows why there is no answer; true if it stands in the answer's place. */
    private boolean show(Exception why, boolean first) {
        // The reason may be the whole body of an answer.
        String error = "error: " + Printable.text(Failures.text(why), Printable.VALUE);
        if (command.output == StatusOutput.json || command.output == StatusOutput.yaml) {
            err.println(error);
            err.flush();
            return false;
        }
        print(separator(first) + palette.bad(error) + "\n");
        return true;
    }

    /** What stands before an answer: programs must be able to tell the answers apart, people see the last one. */
    private String separator(boolean first) {
        return switch (command.output) {
            case json -> "";
            case yaml -> first ? "" : "---\n";
            case text, wide -> first && !palette.colours() ? "" : palette.next();
        };
    }
}
