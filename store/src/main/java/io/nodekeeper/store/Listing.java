package io.nodekeeper.store;

import java.util.List;

/**
 * The objects below a prefix at one revision.
 *
 * @param revision the revision of the list
 * @param entries the objects, ordered by key
 * @param remaining the number of objects beyond the limit
 */
public record Listing(long revision, List<Entry> entries, long remaining) {}
