package io.nodekeeper.agent.kernel;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.Optional;

/**
 * What statx(2) says about a file and Java does not: what it occupies on disk, as {@code du} counts it, and whether something is
 * mounted there. A record of one file. Immutable.
 *
 * @param bytes on disk
 * @param links how many names it has
 * @param device of its file system
 * @param mountPoint whether a mount begins there; empty before Linux 5.8
 */
public record FileStat(long bytes, int links, long inode, long device, Optional<Boolean> mountPoint) {
    /** AT_FDCWD: a path as it is. */
    private static final int HERE = -100;
    /** AT_SYMLINK_NOFOLLOW. */
    private static final int THE_LINK = 0x100;
    /** STATX_BASIC_STATS. */
    private static final int BASIC = 0x7ff;
    /** The size of struct statx in bytes; below, the places of its fields. Blocks have 512 bytes. */
    private static final long STATX_SIZE = 256;

    private static final long ATTRIBUTES = 8;
    private static final long LINKS = 16;
    private static final long INODE = 32;
    private static final long BLOCKS = 48;
    private static final long KNOWN_ATTRIBUTES = 56;
    private static final long DEVICE = 136;
    private static final int BLOCK = 512;
    /** STATX_ATTR_MOUNT_ROOT: also where a directory of the same file system is mounted. */
    private static final long MOUNT_ROOT = 0x2000;

    /** PATH_MAX, with the byte that ends a path. */
    private static final int LONGEST_PATH = 4_096;

    /** No directory. */
    private static final Path NOWHERE = Path.of("/dev/null");

    private static final MethodHandle STATX = NativeCalls.function(
            "statx",
            FunctionDescriptor.of(
                    ValueLayout.JAVA_INT,
                    ValueLayout.JAVA_INT,
                    ValueLayout.ADDRESS,
                    ValueLayout.JAVA_INT,
                    ValueLayout.JAVA_INT,
                    ValueLayout.ADDRESS));

    /** The facts about {@code path}, which is not followed if it is a link; empty if it is gone or the kernel refuses to say. Blocks. */
    public static Optional<FileStat> of(Path path) throws IOException {
        byte[] name = bytes(path);
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment out = arena.allocate(STATX_SIZE, 8);
            MemorySegment text = arena.allocate(name.length + 1L);
            MemorySegment.copy(name, 0, text, ValueLayout.JAVA_BYTE, 0, name.length);
            long code = NativeCalls.result(
                    "statx", (memory, state) -> (int) STATX.invokeExact(state, HERE, text, THE_LINK, BASIC, out));
            return code < 0
                    ? Optional.empty()
                    : Optional.of(new FileStat(
                            out.get(ValueLayout.JAVA_LONG, BLOCKS) * BLOCK,
                            out.get(ValueLayout.JAVA_INT, LINKS),
                            out.get(ValueLayout.JAVA_LONG, INODE),
                            out.get(ValueLayout.JAVA_LONG, DEVICE),
                            mountPoint(out)));
        }
    }

    /**
     * Whether something is mounted at {@code directory}, which is not the root. Before Linux 5.8, only another file system is
     * noticed. Blocks.
     */
    public static boolean isMountPoint(Path directory) throws IOException {
        Optional<Boolean> known = of(directory).flatMap(FileStat::mountPoint);
        return known.isPresent() ? known.get() : !device(directory).equals(device(directory.resolveSibling("")));
    }

    private static Object device(Path path) throws IOException {
        return Files.getAttribute(path, "unix:dev", LinkOption.NOFOLLOW_LINKS);
    }

    private static Optional<Boolean> mountPoint(MemorySegment out) {
        return (out.get(ValueLayout.JAVA_LONG, KNOWN_ATTRIBUTES) & MOUNT_ROOT) == 0
                ? Optional.empty()
                : Optional.of((out.get(ValueLayout.JAVA_LONG, ATTRIBUTES) & MOUNT_ROOT) != 0);
    }

    /** Whether the kernel refuses {@code path} for its length. */
    public static boolean isTooLong(Path path) {
        return bytes(path).length >= LONGEST_PATH;
    }

    /**
     * {@code path} as the kernel knows it: names need not be UTF-8, nor in the encoding of Java's locale. Only the URI of a path shows
     * those bytes, and making it looks at the file behind all links, which may hang: so it is that of a path that cannot exist.
     */
    public static byte[] bytes(Path path) {
        String text = path.toString();
        if (text.chars().allMatch(character -> character < 0x80)) {
            return text.getBytes(StandardCharsets.US_ASCII);
        }
        Path absolute = path.toAbsolutePath();
        String raw =
                NOWHERE.resolve(absolute.getRoot().relativize(absolute)).toUri().getRawPath();
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        for (int i = NOWHERE.toString().length(); i < raw.length(); i++) {
            if (raw.charAt(i) == '%') {
                bytes.write(Integer.parseInt(raw, i + 1, i + 3, 16));
                i += 2;
            } else {
                bytes.write(raw.charAt(i));
            }
        }
        return bytes.toByteArray();
    }

    /** Whether two paths lead to different file systems. Follows links. Blocks. */
    public static boolean areApart(Path one, Path other) throws IOException {
        return !Files.getAttribute(one, "unix:dev").equals(Files.getAttribute(other, "unix:dev"));
    }
}
