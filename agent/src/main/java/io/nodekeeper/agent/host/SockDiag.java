package io.nodekeeper.agent.host;

import io.nodekeeper.agent.kernel.NativeCalls;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * One question to the kernel about the sockets of this process's network namespace: netlink's {@code NETLINK_SOCK_DIAG}, as ss(8)
 * uses it (sock_diag(7)). Needs no privilege. Each answer has a deadline of 200 ms. Not thread-safe.
 */
final class SockDiag implements AutoCloseable {
    // The values of <linux/netlink.h> and <linux/sock_diag.h>, the same on every architecture that Java supports.
    static final short BY_FAMILY = 20;
    static final short REQUEST = 0x1;
    static final short DUMP = 0x300;
    static final short ERROR = 2;
    static final short DONE = 3;
    /** The size of {@code struct nlmsghdr}: length, type, flags, number and port. */
    static final int HEADER = 16;

    /** The size of the buffer for one answer, in bytes: the kernel fills at most 32 KiB at a time. */
    private static final int BUFFER = 1 << 16;
    /** The deadline of one answer, in microseconds: the kernel makes it when it is read. */
    private static final long DEADLINE = 200_000;

    private static final int AF_NETLINK = 16;
    private static final int RAW_CLOEXEC = 3 | 0x80000;
    private static final int SOCK_DIAG = 4;
    private static final int SOL_SOCKET = 1;
    private static final int SO_RCVTIMEO = 20;

    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT;
    private static final MethodHandle OPEN = NativeCalls.function("socket", FunctionDescriptor.of(INT, INT, INT, INT));
    private static final MethodHandle OPTION =
            NativeCalls.function("setsockopt", FunctionDescriptor.of(INT, INT, INT, INT, ValueLayout.ADDRESS, INT));
    private static final MethodHandle SEND = NativeCalls.function(
            "send", FunctionDescriptor.of(ValueLayout.JAVA_LONG, INT, ValueLayout.ADDRESS, ValueLayout.JAVA_LONG, INT));
    private static final MethodHandle RECEIVE = NativeCalls.function(
            "recv", FunctionDescriptor.of(ValueLayout.JAVA_LONG, INT, ValueLayout.ADDRESS, ValueLayout.JAVA_LONG, INT));
    private static final MethodHandle CLOSE = NativeCalls.function("close", FunctionDescriptor.of(INT, INT));

    private final Arena arena = Arena.ofConfined();
    private final MemorySegment buffer = arena.allocate(BUFFER, 8);
    private final int fd;

    private SockDiag() throws IOException {
        try {
            fd = (int) checked(
                    "socket", (memory, state) -> (int) OPEN.invokeExact(state, AF_NETLINK, RAW_CLOEXEC, SOCK_DIAG));
        } catch (IOException | RuntimeException | Error e) {
            arena.close();
            throw e;
        }
    }

    /** Sends {@code request}, a netlink message in the machine's byte order. */
    static SockDiag ask(ByteBuffer request) throws IOException {
        SockDiag question = new SockDiag();
        try {
            MemorySegment deadline = question.arena.allocate(16, 8);
            deadline.set(ValueLayout.JAVA_LONG, 8, DEADLINE);
            checked("setsockopt", (memory, state) ->
                    (int) OPTION.invokeExact(state, question.fd, SOL_SOCKET, SO_RCVTIMEO, deadline, 16));
            MemorySegment message = question.arena.allocate(request.limit(), 8);
            message.copyFrom(MemorySegment.ofBuffer(request.rewind()));
            checked("send", (memory, state) ->
                    (long) SEND.invokeExact(state, question.fd, message, message.byteSize(), 0));
            return question;
        } catch (IOException | RuntimeException | Error e) {
            question.close();
            throw e;
        }
    }

    /** The next answer, a sequence of netlink messages, valid until the one after it; waits for it. */
    ByteBuffer answer() throws IOException {
        long length =
                checked("recv", (memory, state) -> (long) RECEIVE.invokeExact(state, fd, buffer, (long) BUFFER, 0));
        return buffer.asSlice(0, length).asByteBuffer().order(ByteOrder.nativeOrder());
    }

    @Override
    public void close() {
        try {
            // Its result does not matter: the descriptor is gone, whatever the kernel says.
            NativeCalls.result("close", (memory, state) -> (int) CLOSE.invokeExact(state, fd));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } finally {
            arena.close();
        }
    }

    private static long checked(String name, NativeCalls.Call call) throws IOException {
        return NativeCalls.checked(name, "a question about sockets", call);
    }
}
