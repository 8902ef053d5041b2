package io.nodekeeper.store;

import java.util.Optional;

/**
 * One change. Every change has a revision of its own, and all kinds of objects share one count.
 *
 * @param revision when; 1 or more
 * @param key what
 * @param before the object before the change; empty for a creation
 * @param after the object after it; empty for a deletion
 */
public record Event(long revision, String key, Optional<Entry> before, Optional<Entry> after) {}
