package io.nodekeeper.agent.health;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.charset.StandardCharsets;

/** A datagram socket of the machine, to which messages are sent: Java has only those with connections. Thread-safe. */
record NotifySocket(String path) {
    /** AF_UNIX, SOCK_DGRAM and SOCK_CLOEXEC. */
    private static final int UNIX = 1;

    private static final int DATAGRAMS = 2 | 0x80000;
    /** MSG_DONTWAIT and MSG_NOSIGNAL. */
    private static final int AT_ONCE = 0x40 | 0x4000;
    /** The bytes of a path in struct sockaddr_un, with the one that ends it. */
    private static final int LONGEST = 108;

    private static final StructLayout ERRNO = Linker.Option.captureStateLayout();
    private static final MethodHandle SOCKET = handle(
            "socket",
            FunctionDescriptor.of(
                    ValueLayout.JAVA_INT, ValueLayout.JAVA_INT, ValueLayout.JAVA_INT, ValueLayout.JAVA_INT));
    private static final MethodHandle SENDTO = handle(
            "sendto",
            FunctionDescriptor.of(
                    ValueLayout.JAVA_LONG,
                    ValueLayout.JAVA_INT,
                    ValueLayout.ADDRESS,
                    ValueLayout.JAVA_LONG,
                    ValueLayout.JAVA_INT,
                    ValueLayout.ADDRESS,
                    ValueLayout.JAVA_INT));
    private static final MethodHandle CLOSE =
            handle("close", FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_INT));

    /** Whether {@code text} can be the address of such a socket: a path, or a name of the kernel's, which begins with {@code @}. */
    static boolean isAddress(String text) {
        return (text.startsWith("/") || text.startsWith("@"))
                && text.length() > 1
                && text.getBytes(StandardCharsets.UTF_8).length < LONGEST;
    }

    /** Sends {@code message} without waiting. Fails if no process listens, or if its queue is full. */
    void send(String message) throws IOException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment state = arena.allocate(ERRNO);
            int socket = (int) SOCKET.invokeExact(state, UNIX, DATAGRAMS, 0);
            check("socket", state, socket);
            byte[] bytes = message.getBytes(StandardCharsets.UTF_8);
            MemorySegment text = arena.allocateFrom(ValueLayout.JAVA_BYTE, bytes);
            MemorySegment address = address(arena);
            long sent = (long) SENDTO.invokeExact(
                    state, socket, text, (long) bytes.length, AT_ONCE, address, (int) address.byteSize());
            int errno = errno(state);
            int closed = (int) CLOSE.invokeExact(state, socket);
            if (sent < 0) {
                throw new IOException(path + ": sendto failed with errno " + errno);
            }
            check("close", state, closed);
        } catch (IOException e) {
            throw e;
        } catch (Throwable e) {
            throw new IOException("the C library could not be called", e);
        }
    }

    /** struct sockaddr_un: the family, and the path with the byte that ends it, or the name after a byte that is 0. */
    private MemorySegment address(Arena arena) {
        byte[] bytes = path.getBytes(StandardCharsets.UTF_8);
        boolean isName = path.startsWith("@");
        MemorySegment address = arena.allocate(Short.BYTES + bytes.length + (isName ? 0L : 1L), 2);
        address.set(ValueLayout.JAVA_SHORT, 0, (short) UNIX);
        MemorySegment.copy(bytes, 0, address, ValueLayout.JAVA_BYTE, Short.BYTES, bytes.length);
        if (isName) {
            address.set(ValueLayout.JAVA_BYTE, Short.BYTES, (byte) 0);
        }
        return address;
    }

    private void check(String call, MemorySegment state, int result) throws IOException {
        if (result < 0) {
            throw new IOException(path + ": " + call + " failed with errno " + errno(state));
        }
    }

    private static int errno(MemorySegment state) {
        return state.get(ValueLayout.JAVA_INT, ERRNO.byteOffset(MemoryLayout.PathElement.groupElement("errno")));
    }

    private static MethodHandle handle(String name, FunctionDescriptor types) {
        Linker linker = Linker.nativeLinker();
        return linker.downcallHandle(
                linker.defaultLookup().find(name).orElseThrow(), types, Linker.Option.captureCallState("errno"));
    }
}
