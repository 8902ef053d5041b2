package io.nodekeeper.agent.culprit.scan;

/** The number of files and links that the searches of one scan may still read. Not thread-safe. */
final class ScanBudget {
    /**
     * Each read takes 10 to 50 microseconds, so all of them take 0.4 s at most, well below the deadline of a scan (2 s).
     * A node with 100 pods has about 6,000 open files.
     */
    private static final int READS = 8_000;

    private int left = READS;

    /** Whether one more file may be read; counts it. */
    boolean spend() {
        if (left == 0) {
            return false;
        }
        left--;
        return true;
    }
}
