package io.nodekeeper.agent.host;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * Lists the unix sockets of this process's network namespace with their peers, which no file of {@code /proc} shows:
 * netlink's {@code NETLINK_SOCK_DIAG}, as {@code ss -x} uses it (sock_diag(7)). Sockets of other network namespaces do
 * not appear. Needs no privilege. Blocks for milliseconds. Thread-safe.
 */
public final class UnixDiag {
    /** The most sockets to read: a node with hundreds of pods has about 2,000. */
    private static final int SOCKETS = 16_384;
    /** The size of the buffer for one answer, in bytes: the kernel fills at most 32 KiB at a time. */
    private static final int BUFFER = 1 << 16;
    /** The most answers to read, so at most 32 MiB. */
    private static final int ANSWERS = 512;
    /** The deadline of one answer, in microseconds: the kernel makes it when it is read. */
    private static final long DEADLINE = 200_000;

    // The values of <linux/netlink.h>, <linux/sock_diag.h> and <linux/unix_diag.h>, the same on every architecture that
    // a Java virtual machine supports.
    private static final int AF_UNIX = 1;
    private static final int AF_NETLINK = 16;
    private static final int RAW_CLOEXEC = 3 | 0x80000;
    private static final int SOCK_DIAG = 4;
    private static final int SOL_SOCKET = 1;
    private static final int SO_RCVTIMEO = 20;
    private static final short BY_FAMILY = 20;
    private static final short REQUEST_DUMP = 0x301;
    private static final short ERROR = 2;
    private static final short DONE = 3;
    private static final int SHOW_NAME_PEER_PENDING_QUEUES = 0x1 | 0x4 | 0x8 | 0x10;
    private static final int NAME = 0;
    private static final int PEER = 2;
    private static final int PENDING = 3;
    private static final int QUEUES = 4;
    private static final int HEADER = 16;
    private static final int REQUEST = 40;

    private static final StructLayout ERRNO = Linker.Option.captureStateLayout();
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT;
    private static final MethodHandle OPEN = handle("socket", FunctionDescriptor.of(INT, INT, INT, INT));
    private static final MethodHandle OPTION =
            handle("setsockopt", FunctionDescriptor.of(INT, INT, INT, INT, ValueLayout.ADDRESS, INT));
    private static final MethodHandle SEND = handle(
            "send", FunctionDescriptor.of(ValueLayout.JAVA_LONG, INT, ValueLayout.ADDRESS, ValueLayout.JAVA_LONG, INT));
    private static final MethodHandle RECEIVE = handle(
            "recv", FunctionDescriptor.of(ValueLayout.JAVA_LONG, INT, ValueLayout.ADDRESS, ValueLayout.JAVA_LONG, INT));
    private static final MethodHandle CLOSE = handle("close", FunctionDescriptor.of(INT, INT));

    /**
     * A unix socket. Immutable.
     *
     * @param inode as in {@code socket:[INODE]} of {@code /proc/PID/fd}
     * @param listens whether it accepts connections
     * @param name the path that it is bound to, {@code @NAME} for an abstract one; empty if it is not bound
     * @param peer the inode of the other end; 0 if it has none, or if that end has not been accepted yet
     * @param pending for a listening socket, the inodes of the clients whose connections it has not accepted yet
     * @param unread for a connected socket the bytes that its process has not read; for a listening one the connections
     * @param most for a listening socket how many connections may wait; more than that, and connect(2) blocks
     */
    public record Socket(
            long inode, boolean listens, String name, long peer, List<Long> pending, long unread, long most) {}

    private UnixDiag() {}

    /** The sockets, at most {@value #SOCKETS}. Fails if the kernel refuses or does not answer. */
    public static List<Socket> sockets() throws IOException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment state = arena.allocate(ERRNO);
            int fd = (int) checked("socket", state, (int) OPEN.invokeExact(state, AF_NETLINK, RAW_CLOEXEC, SOCK_DIAG));
            try {
                MemorySegment deadline = arena.allocate(16, 8);
                deadline.set(ValueLayout.JAVA_LONG, 8, DEADLINE);
                checked("setsockopt", state, (int)
                        OPTION.invokeExact(state, fd, SOL_SOCKET, SO_RCVTIMEO, deadline, 16));
                MemorySegment request = arena.allocate(REQUEST, 8);
                request(request.asByteBuffer().order(ByteOrder.nativeOrder()));
                checked("send", state, (long) SEND.invokeExact(state, fd, request, (long) REQUEST, 0));
                return answers(arena, state, fd);
            } finally {
                int closed = (int) CLOSE.invokeExact(state, fd);
                assert closed == 0;
            }
        } catch (IOException | RuntimeException | Error e) {
            throw e;
        } catch (Throwable e) {
            throw new IOException("the kernel's list of unix sockets could not be read", e);
        }
    }

    private static List<Socket> answers(Arena arena, MemorySegment state, int fd) throws Throwable {
        MemorySegment buffer = arena.allocate(BUFFER, 8);
        List<Socket> sockets = new ArrayList<>();
        for (int answer = 0; answer < ANSWERS; answer++) {
            long length = checked("recv", state, (long) RECEIVE.invokeExact(state, fd, buffer, (long) BUFFER, 0));
            ByteBuffer bytes = buffer.asSlice(0, length).asByteBuffer().order(ByteOrder.nativeOrder());
            if (length == 0 || parse(bytes, sockets) || sockets.size() >= SOCKETS) {
                break;
            }
        }
        return List.copyOf(sockets);
    }

    /** {@code struct nlmsghdr} and {@code struct unix_diag_req}: all sockets in all states. */
    private static void request(ByteBuffer request) {
        request.putInt(REQUEST)
                .putShort(BY_FAMILY)
                .putShort(REQUEST_DUMP)
                .putInt(1)
                .putInt(0);
        request.put((byte) AF_UNIX).put((byte) 0).putShort((short) 0);
        request.putInt(-1)
                .putInt(0)
                .putInt(SHOW_NAME_PEER_PENDING_QUEUES)
                .putInt(-1)
                .putInt(-1);
    }

    /**
     * Adds the sockets of one answer, a sequence of netlink messages; whether the list ends with it. What is cut off is
     * left out.
     */
    static boolean parse(ByteBuffer answer, List<Socket> sockets) throws IOException {
        int at = 0;
        while (at + HEADER <= answer.limit()) {
            int length = answer.getInt(at);
            short type = answer.getShort(at + 4);
            if (length < HEADER || length > answer.limit() - at || type == DONE) {
                return true;
            }
            if (type == ERROR) {
                throw new IOException("the kernel refuses to list unix sockets"
                        + (length >= HEADER + 4 ? " with errno " + -answer.getInt(at + HEADER) : ""));
            }
            if (type == BY_FAMILY && length >= 2 * HEADER) {
                sockets.add(socket(answer, at + HEADER, at + length));
            }
            at += aligned(length);
        }
        return false;
    }

    /** {@code struct unix_diag_msg}, which has the state at 2 and the inode at 4, and its attributes. */
    private static Socket socket(ByteBuffer answer, int from, int to) {
        String name = "";
        long peer = 0;
        List<Long> pending = new ArrayList<>();
        long unread = 0;
        long most = 0;
        int at = from + HEADER;
        while (at + 4 <= to) {
            int length = Short.toUnsignedInt(answer.getShort(at));
            int end = at + length;
            if (length < 4 || end > to) {
                break;
            }
            int value = at + 4;
            switch (Short.toUnsignedInt(answer.getShort(at + 2))) {
                case NAME -> name = name(answer, value, end);
                case PEER -> peer = end - value < 4 ? 0 : number(answer, value);
                case PENDING -> {
                    for (int each = value; each + 4 <= end; each += 4) {
                        pending.add(number(answer, each));
                    }
                }
                case QUEUES -> {
                    unread = end - value < 8 ? 0 : number(answer, value);
                    most = end - value < 8 ? 0 : number(answer, value + 4);
                }
                default -> {
                    // An attribute that this program did not ask for.
                }
            }
            at += aligned(length);
        }
        boolean listens = answer.get(from + 2) == 10;
        return new Socket(number(answer, from + 4), listens, name, peer, List.copyOf(pending), unread, most);
    }

    private static String name(ByteBuffer answer, int from, int to) {
        byte[] bytes = new byte[to - from];
        answer.get(from, bytes);
        String name = new String(bytes, StandardCharsets.UTF_8);
        return name.startsWith("\0") ? "@" + name.substring(1) : name.split("\0", 2)[0];
    }

    private static long number(ByteBuffer answer, int at) {
        return Integer.toUnsignedLong(answer.getInt(at));
    }

    /** Messages and attributes start at multiples of 4. */
    private static int aligned(int length) {
        return (length + 3) & ~3;
    }

    private static long checked(String call, MemorySegment state, long result) throws IOException {
        if (result < 0) {
            int errno = (int) ERRNO.varHandle(MemoryLayout.PathElement.groupElement("errno"))
                    .get(state, 0L);
            throw new IOException(call + " for the list of unix sockets failed with errno " + errno);
        }
        return result;
    }

    @SuppressWarnings("restricted")
    private static MethodHandle handle(String name, FunctionDescriptor signature) {
        Linker linker = Linker.nativeLinker();
        return linker.downcallHandle(
                linker.defaultLookup().findOrThrow(name), signature, Linker.Option.captureCallState("errno"));
    }
}
