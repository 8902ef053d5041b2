package io.nodekeeper.cli.command;

import io.nodekeeper.time.GoDuration;
import io.nodekeeper.time.Interruption;
import java.io.IOException;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.function.BooleanSupplier;

/** Runs a long task in virtual time that prints what it has when the process is asked to exit. */
public final class PartialReport {
    /** How long such a process waits for the report: for a second of virtual time of a large cluster. */
    private static final Duration LIMIT = Duration.ofSeconds(30);

    /** A task that looks often whether it is to end. */
    public interface Task {
        /** Runs until it has ended or {@code ended}; prints the report, and returns the exit code. */
        int run(BooleanSupplier ended) throws IOException;
    }

    private PartialReport() {}

    /** Runs the task of {@code command}; says on {@code err} if its report was not ready in time. */
    public static int of(String command, PrintWriter err, Task task) throws IOException {
        Runnable late = () -> {
            err.println(command + ": the partial report was not ready within " + GoDuration.format(LIMIT));
            err.flush();
        };
        try (Interruption interruption = Interruption.within(LIMIT, late)) {
            return task.run(interruption::requested);
        }
    }
}
