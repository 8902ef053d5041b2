package io.nodekeeper.store;

/**
 * The size of a store and its quota.
 *
 * @param bytes bytes of the latest versions of all objects, keys and values
 * @param quota the maximum of {@code bytes}; 0 if the store itself has no quota
 * @param exceeded whether the store refuses writes that take more space now
 */
public record Usage(long bytes, long quota, boolean exceeded) {
    /** The usage of a store that does not count its bytes. */
    public static final Usage UNKNOWN = new Usage(0, 0, false);
}
