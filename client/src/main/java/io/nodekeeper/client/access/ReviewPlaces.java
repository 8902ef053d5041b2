package io.nodekeeper.client.access;

import java.util.HashMap;
import java.util.Map;

/**
 * Limits the reviews that are awaited, and shares the places among sources: a source has at most four, and at most half as many as are
 * free, so some are left for a new source while few others send much. Confined to a loop.
 */
final class ReviewPlaces {
    /** All places: a few for each of the people and scrapers that read pages. */
    static final int ALL = 16;
    /** The most of one source, so that a client with bad tokens delays no other source. */
    static final int OF_ONE_SOURCE = 4;

    /** Source → its places, of those that have any; at most {@link #ALL}. */
    private final Map<String, Integer> taken = new HashMap<>();

    private int free = ALL;

    /** Takes a place; false if {@code source} gets none now. */
    boolean take(String source) {
        int has = taken.getOrDefault(source, 0);
        if (has >= Math.min(OF_ONE_SOURCE, free / 2)) {
            return false;
        }
        taken.put(source, has + 1);
        free--;
        return true;
    }

    /** Gives a place back. */
    void giveBack(String source) {
        free++;
        taken.computeIfPresent(source, (from, had) -> had > 1 ? had - 1 : null);
    }
}
