package io.nodekeeper.agent.stats;

/** What files use: bytes and inodes. Immutable. */
record DiskUse(long bytes, long inodes) {
    static final DiskUse NONE = new DiskUse(0, 0);

    DiskUse plus(DiskUse other) {
        return new DiskUse(bytes + other.bytes, inodes + other.inodes);
    }
}
