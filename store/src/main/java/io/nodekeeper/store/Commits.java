package io.nodekeeper.store;

import java.time.Duration;

/**
 * How a store has grouped its writes since it was opened.
 *
 * @param groups groups that were written to the journal
 * @param changes changes in these groups
 * @param window how long batched writes wait for each other at the current load; zero if they do not wait
 */
public record Commits(long groups, long changes, Duration window) {
    /** The numbers of a store that does not count. */
    public static final Commits UNKNOWN = new Commits(0, 0, Duration.ZERO);
}
