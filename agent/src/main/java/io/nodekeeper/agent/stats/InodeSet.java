package io.nodekeeper.agent.stats;

import java.util.Arrays;

/** Numbers of inodes, up to a bound, in 16 to 32 bytes each. Not thread-safe. */
final class InodeSet {
    private static final int FIRST_SIZE = 64;
    /** Spreads numbers that follow each other. */
    private static final long SPREAD = 0x9E3779B97F4A7C15L;

    private final int most;
    /** A power of two; 0, which is no inode, where nothing is. At most half full. */
    private long[] slots = new long[FIRST_SIZE];

    private int size;

    InodeSet(int most) {
        this.most = most;
    }

    /** Whether {@code inode} is not in the set; adds it if there is room. */
    boolean add(long inode) {
        int place = place(inode);
        if (slots[place] == inode) {
            return false;
        }
        if (size < most) {
            slots[place] = inode;
            size++;
            if (size * 2 > slots.length) {
                grow();
            }
        }
        return true;
    }

    /** Where it is, or would be. */
    private int place(long inode) {
        int mask = slots.length - 1;
        int place = (int) (inode * SPREAD >>> 32) & mask;
        while (slots[place] != 0 && slots[place] != inode) {
            place = place + 1 & mask;
        }
        return place;
    }

    private void grow() {
        long[] before = slots;
        slots = new long[before.length * 2];
        Arrays.stream(before).filter(inode -> inode != 0).forEach(inode -> slots[place(inode)] = inode);
    }
}
