package io.nodekeeper.agent.pods.mounts;

import io.nodekeeper.agent.kernel.FileStat;
import io.nodekeeper.agent.kernel.NativeCalls;
import io.nodekeeper.agent.kernel.SyscallException;
import java.io.IOException;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.file.Path;

/**
 * Calls of the C library that Java has no counterpart for: mounts, paths that cannot leave a directory, and places that stay the same
 * when their names become others'. Thread-safe.
 */
public final class Syscalls {
    /** MS_BIND: mount what is already in the tree at a second place. */
    static final long BIND = 4_096;

    /** O_PATH and O_CLOEXEC, the same on all 64-bit machines that Java runs on: a place in the tree, not its content. */
    private static final int PLACE = 0x200000 | 0x80000;
    /** O_NOFOLLOW, one of the few numbers that ARM and POWER have otherwise. */
    private static final int THE_LINK = System.getProperty("os.arch", "").matches("aarch64|ppc64.*") ? 0x8000 : 0x20000;
    /** MNT_DETACH and UMOUNT_NOFOLLOW: works while the mount is in use or hangs; never at the end of a link. */
    private static final int DETACH = 2 | 8;

    private static final long OPENAT2 = 437;
    /** RESOLVE_BENEATH and RESOLVE_NO_MAGICLINKS. */
    private static final long BENEATH = 8 | 2;
    /** The size of struct open_how: flags, mode, resolve. */
    private static final long HOW_SIZE = 24;

    private static final MethodHandle OPEN = NativeCalls.function(
            "open",
            FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.ADDRESS, ValueLayout.JAVA_INT),
            Linker.Option.firstVariadicArg(2));
    private static final MethodHandle CLOSE =
            NativeCalls.function("close", FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_INT));
    private static final MethodHandle SYSCALL = NativeCalls.function(
            "syscall",
            FunctionDescriptor.of(
                    ValueLayout.JAVA_LONG,
                    ValueLayout.JAVA_LONG,
                    ValueLayout.JAVA_LONG,
                    ValueLayout.ADDRESS,
                    ValueLayout.ADDRESS,
                    ValueLayout.JAVA_LONG),
            Linker.Option.firstVariadicArg(1));
    private static final MethodHandle MKDIRAT = NativeCalls.function(
            "mkdirat",
            FunctionDescriptor.of(
                    ValueLayout.JAVA_INT, ValueLayout.JAVA_INT, ValueLayout.ADDRESS, ValueLayout.JAVA_INT));
    private static final MethodHandle MOUNT = NativeCalls.function(
            "mount",
            FunctionDescriptor.of(
                    ValueLayout.JAVA_INT,
                    ValueLayout.ADDRESS,
                    ValueLayout.ADDRESS,
                    ValueLayout.ADDRESS,
                    ValueLayout.JAVA_LONG,
                    ValueLayout.ADDRESS));
    private static final MethodHandle UMOUNT2 = NativeCalls.function(
            "umount2", FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.ADDRESS, ValueLayout.JAVA_INT));

    private Syscalls() {}

    /** A descriptor of the place {@code path}, which must be closed. */
    public static int open(Path path) throws IOException {
        return open(path, PLACE);
    }

    /**
     * As {@link #open(Path)}, of the link itself if {@code path} is one. Its content is not opened, so it waits for no pipe and no device.
     */
    public static int openItself(Path path) throws IOException {
        return open(path, PLACE | THE_LINK);
    }

    private static int open(Path path, int flags) throws IOException {
        byte[] name = FileStat.bytes(path);
        return (int) NativeCalls.checked("open", path.toString(), (arena, state) -> {
            MemorySegment text = arena.allocate(name.length + 1L);
            MemorySegment.copy(name, 0, text, ValueLayout.JAVA_BYTE, 0, name.length);
            return (int) OPEN.invokeExact(state, text, flags);
        });
    }

    /** A path to what {@code descriptor} is open for, whatever its name is now. */
    public static Path path(int descriptor) {
        return Path.of("/proc/self/fd/" + descriptor);
    }

    /** A descriptor of the place {@code path} relative to {@code directory}, if no step of it leaves that directory. */
    static int openBeneath(int directory, String path) throws IOException {
        return (int) NativeCalls.checked("open", path, (arena, state) -> {
            MemorySegment how = arena.allocate(HOW_SIZE, 8);
            how.set(ValueLayout.JAVA_LONG, 0, PLACE);
            how.set(ValueLayout.JAVA_LONG, 16, BENEATH);
            return (long)
                    SYSCALL.invokeExact(state, OPENAT2, (long) directory, arena.allocateFrom(path), how, HOW_SIZE);
        });
    }

    /** Makes the directory {@code name} in {@code directory}; false if there is something of that name. */
    static boolean makeDirectory(int directory, String name, int mode) throws IOException {
        try {
            NativeCalls.checked("mkdir", name, (arena, state) ->
                    (int) MKDIRAT.invokeExact(state, directory, arena.allocateFrom(name), mode));
            return true;
        } catch (SyscallException e) {
            if (e.errno() != SyscallException.EEXIST) {
                throw e;
            }
            return false;
        }
    }

    /** Closes a descriptor. */
    public static void close(int descriptor) throws IOException {
        NativeCalls.checked(
                "close", "descriptor " + descriptor, (arena, state) -> (int) CLOSE.invokeExact(state, descriptor));
    }

    static void mount(String source, Path target, String type, long flags, String options) throws IOException {
        NativeCalls.checked("mount", target.toString(), (arena, state) -> (int) MOUNT.invokeExact(
                state,
                arena.allocateFrom(source),
                arena.allocateFrom(target.toString()),
                arena.allocateFrom(type),
                flags,
                arena.allocateFrom(options)));
    }

    static void unmount(Path target) throws IOException {
        NativeCalls.checked("umount", target.toString(), (arena, state) ->
                (int) UMOUNT2.invokeExact(state, arena.allocateFrom(target.toString()), DETACH));
    }

    /** As {@link #unmount}; false if nothing is mounted at {@code target}, which need not exist. */
    static boolean unmountIfMounted(Path target) throws IOException {
        try {
            unmount(target);
            return true;
        } catch (SyscallException e) {
            if (e.errno() != SyscallException.EINVAL && e.errno() != SyscallException.ENOENT) {
                throw e;
            }
            return false;
        }
    }
}
