package io.nodekeeper.agent.host;

import io.nodekeeper.agent.facts.Filesystem;
import io.nodekeeper.agent.facts.Level;
import io.nodekeeper.agent.kernel.NativeCalls;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.file.Path;

/** Calls the C library's {@code statvfs}, the only way to read a file system's inodes. Blocks on the disk. Thread-safe. */
public final class Statvfs {
    // struct statvfs of 64-bit Linux, the same in glibc and musl up to the fields that are read here.
    private static final long SIZE = 256;
    private static final long F_FRSIZE = 8;
    private static final long F_BLOCKS = 16;
    private static final long F_BFREE = 24;
    private static final long F_BAVAIL = 32;
    private static final long F_FILES = 40;
    private static final long F_FFREE = 48;

    private static final MethodHandle CALL = NativeCalls.function(
            "statvfs", FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.ADDRESS, ValueLayout.ADDRESS));

    private Statvfs() {}

    /** How full the file system of {@code path} is: bytes for unprivileged users, inodes. */
    public static Filesystem of(Path path) throws IOException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment result = arena.allocate(SIZE, 8);
            NativeCalls.checked("statvfs", path.toString(), (memory, state) ->
                    (int) CALL.invokeExact(state, memory.allocateFrom(path.toString()), result));
            long block = field(result, F_FRSIZE);
            return new Filesystem(
                    new Level(field(result, F_BAVAIL) * block, field(result, F_BLOCKS) * block),
                    new Level(field(result, F_FFREE), field(result, F_FILES)),
                    field(result, F_BFREE) * block);
        }
    }

    private static long field(MemorySegment result, long offset) {
        return result.get(ValueLayout.JAVA_LONG, offset);
    }
}
