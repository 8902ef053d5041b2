package io.nodekeeper.store;

/**
 * How much a store holds of what it may hold.
 *
 * @param bytes the latest versions of all objects, keys and values
 * @param quota the most that {@code bytes} may be; 0 if the store itself has no quota
 * @param exceeded whether writes that take more space are refused now
 */
public record Usage(long bytes, long quota, boolean exceeded) {
    /** What a store tells that does not count. */
    public static final Usage UNKNOWN = new Usage(0, 0, false);
}
