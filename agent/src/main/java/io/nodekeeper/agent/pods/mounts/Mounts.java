package io.nodekeeper.agent.pods.mounts;

import java.io.IOException;
import java.nio.file.Path;

/** Mounts of the host, as the volumes of pods need them. All methods block. Implementations are thread-safe. */
public interface Mounts {

    /**
     * Mounts a file system in memory at the directory {@code at}, unless something is mounted there.
     *
     * @param bytes its size; 0 for the kernel's default, half of the memory
     */
    void memory(Path at, long bytes) throws IOException;

    /**
     * Mounts a file system of huge pages at the directory {@code at}, unless something is mounted there.
     *
     * @param pageBytes the size of a page
     * @param bytes the most that it may hold, rounded down to whole pages; 0 for no limit
     * @throws IOException if the kernel has no pages of that size
     */
    void hugePages(Path at, long pageBytes, long bytes) throws IOException;

    /**
     * Mounts what is at {@code inside} below the directory {@code volume} at {@code target}, in place of an earlier such mount.
     * Makes absent directories of {@code inside}, with the mode of {@code volume}. What is mounted stays the same when links
     * in the volume change later.
     *
     * @param inside a relative path; links in it are followed as long as they stay below {@code volume}
     * @throws IOException if the path leads out of {@code volume}, or cannot be mounted
     */
    void part(Path volume, String inside, Path target) throws IOException;

    /**
     * Unmounts everything below {@code directory}, also while it is in use.
     *
     * @throws IOException if something remains mounted
     */
    void unmountBelow(Path directory) throws IOException;
}
