package io.nodekeeper.it;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * What a benchmark has measured so far, and what it does now. Each row is printed as soon as it is known, so that a benchmark
 * that is interrupted leaves a partial table. What it does now is one line in a file, which the scripts show beside the time
 * (run_shown in scripts/progress.sh). Used by one thread.
 */
final class BenchReport {
    /** {@code $shown_state} of the scripts. */
    private static final Path STATE = Path.of("target", "bench-state");

    /** From now on it does {@code what}, as in {@code step 2 of 4: 10000 nodes register}. */
    void now(String what) throws IOException {
        Files.writeString(STATE, what + "\n");
    }

    /** Prints the next row, or several lines. */
    void add(String row) {
        System.out.print(row.endsWith("\n") ? row : row + "\n");
        System.out.flush();
    }
}
