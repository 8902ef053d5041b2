package io.nodekeeper.apiserver.netty.connections;

import com.sun.management.UnixOperatingSystemMXBean;
import java.lang.management.ManagementFactory;

/**
 * The limits of all connections of clients. Immutable.
 *
 * @param most the most connections
 * @param unprovenBytes the most memory that clients may use together before they have proven who they are
 */
public record ConnectionLimits(int most, long unprovenBytes) {
    /** The bytes of the heap for each connection: one without a request takes about half as much. */
    private static final int HEAP_BYTES = 16 << 10;

    /** No limit of descriptors is larger than this one, which is more than connections can be on one machine. */
    private static final long MOST_DESCRIPTORS = 1 << 20;

    /**
     * The limits of this process. A quarter of its file descriptors are left for files and for connections to nodes. Clients that have
     * not proven who they are may use a quarter of the heap. That are 12,500 connections with the default heap of 800 MB, so
     * that all nodes of the largest cluster can connect at the same time.
     */
    public static ConnectionLimits ofProcess() {
        long heap = Runtime.getRuntime().maxMemory();
        return of(descriptors(), heap);
    }

    static ConnectionLimits of(long descriptors, long heap) {
        long byDescriptors = Math.min(descriptors, MOST_DESCRIPTORS) / 4 * 3;
        return new ConnectionLimits((int) Math.min(byDescriptors, heap / HEAP_BYTES), heap / 4);
    }

    private static long descriptors() {
        return ManagementFactory.getOperatingSystemMXBean() instanceof UnixOperatingSystemMXBean unix
                        && unix.getMaxFileDescriptorCount() > 0
                ? unix.getMaxFileDescriptorCount()
                : MOST_DESCRIPTORS;
    }
}
