package io.nodekeeper.cli.doctor.bundle;

import java.time.Duration;
import java.util.concurrent.Callable;

/**
 * One file of a bundle.
 *
 * @param name its path in the archive, at most 90 ASCII characters
 * @param read reads its text; may block, and may fail with the reason why the file is left out
 */
record Evidence(String name, Callable<String> read) {
    /** The most bytes of one file: more than {@code mountinfo} of a node with 250 pods has. */
    static final int LIMIT = 512 << 10;
    /** What is read beyond the limit, so that a secret at the cut is recognized: longer than any token or key. */
    static final int MARGIN = 64 << 10;
    /** The most bytes that are read for one file. */
    static final int READ = LIMIT + MARGIN;
    /** The longest time to read one file: pages have 2 s to connect and 2 s to answer. */
    static final Duration DEADLINE = Duration.ofSeconds(5);
}
