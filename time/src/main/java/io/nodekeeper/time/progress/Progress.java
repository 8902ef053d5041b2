package io.nodekeeper.time.progress;

/**
 * How far a task is at one moment. Immutable.
 *
 * @param step the part of the task that runs now, as in {@code step 1 of 3}; empty if the task has one part
 * @param figures what was done so far, for people, as in {@code 350 of 1000 nodes registered}
 * @param done how much of {@code total} is done, in any unit
 * @param total how much there is to do in this step, in the same unit; 0 if that is not known
 */
public record Progress(String step, String figures, double done, double total) {

    /** A task of one part whose end is known. */
    public static Progress of(String figures, double done, double total) {
        return new Progress("", figures, done, total);
    }

    /** A task whose end is not known. */
    public static Progress endless(String figures) {
        return new Progress("", figures, 0, 0);
    }

    /** Whether a percentage and an estimate have a meaning. */
    boolean hasEnd() {
        return total > 0 && done >= 0;
    }

    /** Percent that are done, rounded down, so that 100 means the end. */
    int percent() {
        return (int) Math.min(100, Math.floor(100 * done / total));
    }
}
