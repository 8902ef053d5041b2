package io.nodekeeper.time.progress;

import io.nodekeeper.time.Loop;
import java.io.PrintWriter;
import java.util.function.IntSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Shows the progress of a task from time to time until it is closed. The task runs elsewhere; the display asks for its state.
 * Thread-safe.
 */
public final class ProgressDisplay implements AutoCloseable {
    private final ProgressStyle style;
    private final Loop loop;
    private final PrintWriter out;
    private final IntSupplier width;
    private final Supplier<Progress> state;
    private final ProgressPrinter printer;
    private Loop.@Nullable Timer timer;
    private boolean closed;

    private ProgressDisplay(
            String task, ProgressStyle style, Loop loop, PrintWriter out, IntSupplier width, Supplier<Progress> state) {
        this.style = style;
        this.loop = loop;
        this.out = out;
        this.width = width;
        this.state = state;
        printer = new ProgressPrinter(task, style, loop.clock().nanoTime());
    }

    /**
     * Begins to show {@code task}.
     *
     * @param loop asks for the state and writes; it belongs to the display
     * @param out standard error, as results go to standard output
     * @param width the terminal's columns now; not asked in other styles
     * @param state the task's state now; quick, and callable from the loop
     */
    public static ProgressDisplay start(
            String task, ProgressStyle style, Loop loop, PrintWriter out, IntSupplier width, Supplier<Progress> state) {
        ProgressDisplay display = new ProgressDisplay(task, style, loop, out, width, state);
        if (style != ProgressStyle.QUIET) {
            display.schedule();
        }
        return display;
    }

    private synchronized void schedule() {
        timer = loop.schedule(style.period(), this::tick);
    }

    private synchronized void tick() {
        if (closed) {
            return;
        }
        int columns = style == ProgressStyle.TERMINAL ? width.getAsInt() : 0;
        write(printer.next(state.get(), loop.clock().nanoTime(), columns));
        schedule();
    }

    /** Writes a line of its own. It is shown in every style. */
    public void say(String line) {
        beside(() -> write(line + "\n"));
    }

    /** Removes the line, and runs {@code writer}, which writes elsewhere on the same screen, before it is shown again. */
    public synchronized void beside(Runnable writer) {
        write(printer.clear());
        writer.run();
    }

    /** Shows nothing more, removes the line, and closes the loop. */
    @Override
    public synchronized void close() {
        closed = true;
        if (timer != null) {
            timer.cancel();
        }
        loop.close();
        write(printer.clear());
    }

    private void write(String text) {
        if (!text.isEmpty()) {
            out.print(text);
            out.flush();
        }
    }
}
