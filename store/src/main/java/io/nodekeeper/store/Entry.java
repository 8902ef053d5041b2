package io.nodekeeper.store;

/**
 * A stored object.
 *
 * @param key its place, as {@code /registry/minions/n1}
 * @param value its bytes, shared by all readers and never to be changed; the revision is not inside
 * @param createRevision the revision at which it was created, 1 or more
 * @param modRevision the revision at which it was last changed
 */
public record Entry(String key, byte[] value, long createRevision, long modRevision) {}
