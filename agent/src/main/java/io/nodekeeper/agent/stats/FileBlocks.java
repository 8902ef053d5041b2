package io.nodekeeper.agent.stats;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.file.Path;
import java.util.Optional;

/** What a file occupies on disk, as {@code du} counts it; Java knows only its length. Thread-safe. */
final class FileBlocks {
    /** AT_FDCWD: a path as it is. */
    private static final int HERE = -100;
    /** AT_SYMLINK_NOFOLLOW. */
    private static final int THE_LINK = 0x100;
    /** STATX_BASIC_STATS. */
    private static final int BASIC = 0x7ff;
    /** The size of struct statx, and where its fields are: links, inode, blocks of 512 bytes, device. */
    private static final long STATX_SIZE = 256;

    private static final long LINKS = 16;
    private static final long INODE = 32;
    private static final long BLOCKS = 48;
    private static final long DEVICE = 136;
    private static final int BLOCK = 512;

    private static final MethodHandle STATX = statx();

    private FileBlocks() {}

    /**
     * What the kernel says about a file.
     *
     * @param bytes on disk
     * @param links how many names it has
     * @param device of its file system
     */
    record Stat(long bytes, int links, long inode, long device) {}

    /** That of {@code path}; empty if it is gone, or its name cannot be written in UTF-8. Blocks. */
    static Optional<Stat> of(Path path) throws IOException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment out = arena.allocate(STATX_SIZE, 8);
            int code = (int) STATX.invokeExact(HERE, arena.allocateFrom(path.toString()), THE_LINK, BASIC, out);
            return code < 0
                    ? Optional.empty()
                    : Optional.of(new Stat(
                            out.get(ValueLayout.JAVA_LONG, BLOCKS) * BLOCK,
                            out.get(ValueLayout.JAVA_INT, LINKS),
                            out.get(ValueLayout.JAVA_LONG, INODE),
                            out.get(ValueLayout.JAVA_LONG, DEVICE)));
        } catch (Throwable e) {
            throw new IOException("statx could not be called", e);
        }
    }

    @SuppressWarnings("restricted")
    private static MethodHandle statx() {
        Linker linker = Linker.nativeLinker();
        return linker.downcallHandle(
                linker.defaultLookup().findOrThrow("statx"),
                FunctionDescriptor.of(
                        ValueLayout.JAVA_INT,
                        ValueLayout.JAVA_INT,
                        ValueLayout.ADDRESS,
                        ValueLayout.JAVA_INT,
                        ValueLayout.JAVA_INT,
                        ValueLayout.ADDRESS));
    }
}
