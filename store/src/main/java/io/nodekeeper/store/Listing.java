package io.nodekeeper.store;

import java.util.List;

/**
 * The objects below a prefix as they were together at one revision.
 *
 * @param revision the revision
 * @param entries the objects, ordered by key
 * @param remaining how many more there are beyond the limit
 */
public record Listing(long revision, List<Entry> entries, long remaining) {}
