package io.nodekeeper.cli.options;

import io.nodekeeper.time.ThreadLoop;
import io.nodekeeper.time.progress.Progress;
import io.nodekeeper.time.progress.ProgressDisplay;
import io.nodekeeper.time.progress.ProgressStyle;
import io.nodekeeper.time.progress.Terminal;
import java.io.PrintWriter;
import java.util.function.Supplier;
import picocli.CommandLine.Option;

/** The flag for progress of commands that take long. */
public final class ProgressOptions {
    @Option(
            names = {"-q", "--quiet"},
            description = "Shows no progress. Without it, standard error shows how far the command is: on a terminal in"
                    + " one line, elsewhere with a line every 10 s.")
    public boolean quiet;

    /** How progress is shown on standard error. */
    public ProgressStyle style() {
        return Terminal.style(quiet, System.getenv());
    }

    /** Shows {@code task} on {@code err}, which is standard error, until the display is closed. */
    public ProgressDisplay show(String task, PrintWriter err, Supplier<Progress> state) {
        return ProgressDisplay.start(task, style(), new ThreadLoop("progress"), err, Terminal::width, state);
    }
}
