package io.nodekeeper.agent.health;

import io.nodekeeper.agent.kernel.NativeCalls;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
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

    private static final MethodHandle SOCKET = NativeCalls.function(
            "socket",
            FunctionDescriptor.of(
                    ValueLayout.JAVA_INT, ValueLayout.JAVA_INT, ValueLayout.JAVA_INT, ValueLayout.JAVA_INT));
    private static final MethodHandle SENDTO = NativeCalls.function(
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
            NativeCalls.function("close", FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_INT));

    /** Whether {@code text} can be the address of such a socket: a path, or a name of the kernel's, which begins with {@code @}. */
    static boolean isAddress(String text) {
        return (text.startsWith("/") || text.startsWith("@"))
                && text.length() > 1
                && text.getBytes(StandardCharsets.UTF_8).length < LONGEST;
    }

    /** Sends {@code message} without waiting. Fails if no process listens, or if its queue is full. */
    void send(String message) throws IOException {
        int socket = (int) NativeCalls.checked(
                "socket", path, (arena, state) -> (int) SOCKET.invokeExact(state, UNIX, DATAGRAMS, 0));
        try {
            byte[] bytes = message.getBytes(StandardCharsets.UTF_8);
            NativeCalls.checked("sendto", path, (arena, state) -> {
                MemorySegment text = arena.allocateFrom(ValueLayout.JAVA_BYTE, bytes);
                MemorySegment address = address(arena);
                return (long) SENDTO.invokeExact(
                        state, socket, text, (long) bytes.length, AT_ONCE, address, (int) address.byteSize());
            });
        } finally {
            NativeCalls.checked("close", path, (arena, state) -> (int) CLOSE.invokeExact(state, socket));
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
}
