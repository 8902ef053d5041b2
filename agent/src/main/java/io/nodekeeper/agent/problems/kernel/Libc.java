package io.nodekeeper.agent.problems.kernel;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
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

    private static final StructLayout ERRNO = Linker.Option.captureStateLayout();
    private static final MethodHandle OPEN = handle(
            "open",
            FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.ADDRESS, ValueLayout.JAVA_INT),
            Linker.Option.firstVariadicArg(2));
    private static final MethodHandle READ = handle(
            "read",
            FunctionDescriptor.of(
                    ValueLayout.JAVA_LONG, ValueLayout.JAVA_INT, ValueLayout.ADDRESS, ValueLayout.JAVA_LONG));
    private static final MethodHandle CLOSE =
            handle("close", FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_INT));
    private static final MethodHandle POLL = handle(
            "poll",
            FunctionDescriptor.of(
                    ValueLayout.JAVA_INT, ValueLayout.ADDRESS, ValueLayout.JAVA_LONG, ValueLayout.JAVA_INT));
    private static final MethodHandle INOTIFY_INIT =
            handle("inotify_init1", FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_INT));
    private static final MethodHandle INOTIFY_ADD = handle(
            "inotify_add_watch",
            FunctionDescriptor.of(
                    ValueLayout.JAVA_INT, ValueLayout.JAVA_INT, ValueLayout.ADDRESS, ValueLayout.JAVA_INT));

    private Libc() {}

    /** Opens {@code path} for reads that do not wait. */
    static int open(Path path) throws IOException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment state = arena.allocate(ERRNO);
            MemorySegment name = arena.allocateFrom(path.toString());
            int code = (int) OPEN.invokeExact(state, name, READ_NONBLOCK_CLOEXEC);
            return code < 0 ? -errno(state) : code;
        } catch (Throwable e) {
            throw failed("open", e);
        }
    }

    /** Reads one record into {@code buffer}. */
    static int read(int descriptor, byte[] buffer) throws IOException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment state = arena.allocate(ERRNO);
            MemorySegment bytes = arena.allocate(buffer.length);
            long got = (long) READ.invokeExact(state, descriptor, bytes, (long) buffer.length);
            if (got < 0) {
                return -errno(state);
            }
            MemorySegment.copy(bytes, ValueLayout.JAVA_BYTE, 0, buffer, 0, (int) got);
            return (int) got;
        } catch (Throwable e) {
            throw failed("read", e);
        }
    }

    /** Whether what the file shows has changed since the last poll: 1 or 0. Only files of the kernel that report it do. */
    static int changed(int descriptor) throws IOException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment state = arena.allocate(ERRNO);
            // struct pollfd: the descriptor, and the events that are wanted and reported.
            MemorySegment poll = arena.allocate(8, 4);
            poll.set(ValueLayout.JAVA_INT, 0, descriptor);
            poll.set(ValueLayout.JAVA_SHORT, 4, (short) CHANGED);
            int code = (int) POLL.invokeExact(state, poll, 1L, 0);
            if (code < 0) {
                return -errno(state);
            }
            return (poll.get(ValueLayout.JAVA_SHORT, 6) & CHANGED) == 0 ? 0 : 1;
        } catch (Throwable e) {
            throw failed("poll", e);
        }
    }

    static void close(int descriptor) throws IOException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment state = arena.allocate(ERRNO);
            int code = (int) CLOSE.invokeExact(state, descriptor);
            if (code < 0) {
                throw new IOException("close of descriptor " + descriptor + " failed with errno " + errno(state));
            }
        } catch (IOException e) {
            throw e;
        } catch (Throwable e) {
            throw failed("close", e);
        }
    }

    /** Creates an inotify instance. */
    static int inotify() throws IOException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment state = arena.allocate(ERRNO);
            int code = (int) INOTIFY_INIT.invokeExact(state, NONBLOCK_CLOEXEC);
            return code < 0 ? -errno(state) : code;
        } catch (Throwable e) {
            throw failed("inotify_init1", e);
        }
    }

    /** Adds a watch for {@code path}. */
    static int watch(int instance, Path path) throws IOException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment state = arena.allocate(ERRNO);
            int code = (int) INOTIFY_ADD.invokeExact(state, instance, arena.allocateFrom(path.toString()), DELETE_SELF);
            return code < 0 ? -errno(state) : code;
        } catch (Throwable e) {
            throw failed("inotify_add_watch", e);
        }
    }

    private static IOException failed(String call, Throwable error) {
        return new IOException(call + " could not be called", error);
    }

    private static int errno(MemorySegment state) {
        return (int)
                ERRNO.varHandle(MemoryLayout.PathElement.groupElement("errno")).get(state, 0L);
    }

    @SuppressWarnings("restricted")
    private static MethodHandle handle(String name, FunctionDescriptor type, Linker.Option... more) {
        Linker linker = Linker.nativeLinker();
        Linker.Option[] options = new Linker.Option[more.length + 1];
        options[0] = Linker.Option.captureCallState("errno");
        System.arraycopy(more, 0, options, 1, more.length);
        return linker.downcallHandle(linker.defaultLookup().findOrThrow(name), type, options);
    }
}
