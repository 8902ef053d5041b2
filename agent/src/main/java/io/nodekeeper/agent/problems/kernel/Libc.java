package io.nodekeeper.agent.problems.kernel;

import io.nodekeeper.agent.kernel.NativeCalls;
import java.io.IOException;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.file.Path;

/**
 * Calls of the C library that Java has no counterpart for: reads that do not wait, poll, and inotify. Each returns its result,
 * or the negative error number. Thread-safe.
 */
final class Libc {
    /** Nothing to read now. */
    static final int EAGAIN = 11;
    /** The process has no file descriptor left, or the user no inotify instance. */
    static final int EMFILE = 24;
    /** The user has no inotify watch left. */
    static final int ENOSPC = 28;
    /** Records of the kernel's log were overwritten before they were read. */
    static final int EPIPE = 32;

    private static final int READ_NONBLOCK_CLOEXEC = 0x800 | 0x80000;
    private static final int NONBLOCK_CLOEXEC = 0x800 | 0x80000;
    /** IN_DELETE_SELF: a watch that costs nothing. */
    private static final int DELETE_SELF = 0x400;

    /** POLLPRI and POLLERR: how the kernel reports a change of mounts. */
    private static final int CHANGED = 0x2 | 0x8;

    private static final MethodHandle OPEN = NativeCalls.function(
            "open",
            FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.ADDRESS, ValueLayout.JAVA_INT),
            Linker.Option.firstVariadicArg(2));
    private static final MethodHandle READ = NativeCalls.function(
            "read",
            FunctionDescriptor.of(
                    ValueLayout.JAVA_LONG, ValueLayout.JAVA_INT, ValueLayout.ADDRESS, ValueLayout.JAVA_LONG));
    private static final MethodHandle CLOSE =
            NativeCalls.function("close", FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_INT));
    private static final MethodHandle POLL = NativeCalls.function(
            "poll",
            FunctionDescriptor.of(
                    ValueLayout.JAVA_INT, ValueLayout.ADDRESS, ValueLayout.JAVA_LONG, ValueLayout.JAVA_INT));
    private static final MethodHandle INOTIFY_INIT =
            NativeCalls.function("inotify_init1", FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_INT));
    private static final MethodHandle INOTIFY_ADD = NativeCalls.function(
            "inotify_add_watch",
            FunctionDescriptor.of(
                    ValueLayout.JAVA_INT, ValueLayout.JAVA_INT, ValueLayout.ADDRESS, ValueLayout.JAVA_INT));

    private Libc() {}

    /** Opens {@code path} for reads that do not wait. */
    static int open(Path path) throws IOException {
        return (int) NativeCalls.result("open", (arena, state) ->
                (int) OPEN.invokeExact(state, arena.allocateFrom(path.toString()), READ_NONBLOCK_CLOEXEC));
    }

    /** Reads one record into {@code buffer}. */
    static int read(int descriptor, byte[] buffer) throws IOException {
        return (int) NativeCalls.result("read", (arena, state) -> {
            MemorySegment bytes = arena.allocate(buffer.length);
            long got = (long) READ.invokeExact(state, descriptor, bytes, (long) buffer.length);
            MemorySegment.copy(bytes, ValueLayout.JAVA_BYTE, 0, buffer, 0, (int) Math.max(0, got));
            return got;
        });
    }

    /** Whether what the file shows has changed since the last poll: 1 or 0. Only files of the kernel that report it do. */
    static int changed(int descriptor) throws IOException {
        return (int) NativeCalls.result("poll", (arena, state) -> {
            // struct pollfd: the descriptor, and the events that are wanted and reported.
            MemorySegment poll = arena.allocate(8, 4);
            poll.set(ValueLayout.JAVA_INT, 0, descriptor);
            poll.set(ValueLayout.JAVA_SHORT, 4, (short) CHANGED);
            int code = (int) POLL.invokeExact(state, poll, 1L, 0);
            if (code < 0) {
                return code;
            }
            return (poll.get(ValueLayout.JAVA_SHORT, 6) & CHANGED) == 0 ? 0 : 1;
        });
    }

    static void close(int descriptor) throws IOException {
        NativeCalls.checked(
                "close", "descriptor " + descriptor, (arena, state) -> (int) CLOSE.invokeExact(state, descriptor));
    }

    /** Creates an inotify instance. */
    static int inotify() throws IOException {
        return (int) NativeCalls.result(
                "inotify_init1", (arena, state) -> (int) INOTIFY_INIT.invokeExact(state, NONBLOCK_CLOEXEC));
    }

    /** Adds a watch for {@code path}. */
    static int watch(int instance, Path path) throws IOException {
        return (int) NativeCalls.result("inotify_add_watch", (arena, state) ->
                (int) INOTIFY_ADD.invokeExact(state, instance, arena.allocateFrom(path.toString()), DELETE_SELF));
    }
}
