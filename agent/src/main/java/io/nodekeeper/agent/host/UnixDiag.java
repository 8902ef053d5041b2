package io.nodekeeper.agent.host;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * Lists the unix sockets of this process's network namespace with their peers, which no file of {@code /proc} shows, as
 * {@code ss -x} does ({@link SockDiag}). Sockets of other network namespaces do not appear. Blocks for milliseconds. Thread-safe.
 */
public final class UnixDiag {
    /** The most sockets to read: a node with hundreds of pods has about 2,000. */
    private static final int SOCKETS = 16_384;
    /** The most answers to read, so at most 32 MiB. */
    private static final int ANSWERS = 512;

    // The values of <linux/unix_diag.h>, the same on every architecture that a Java virtual machine supports.
    private static final int AF_UNIX = 1;
    private static final int SHOW_NAME_PEER_PENDING_QUEUES = 0x1 | 0x4 | 0x8 | 0x10;
    private static final int NAME = 0;
    private static final int PEER = 2;
    private static final int PENDING = 3;
    private static final int QUEUES = 4;
    private static final int REQUEST = 40;

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
        ByteBuffer request = ByteBuffer.allocateDirect(REQUEST).order(ByteOrder.nativeOrder());
        request(request);
        try (SockDiag question = SockDiag.ask(request)) {
            List<Socket> sockets = new ArrayList<>();
            for (int answer = 0; answer < ANSWERS; answer++) {
                ByteBuffer bytes = question.answer();
                if (bytes.limit() == 0 || parse(bytes, sockets) || sockets.size() >= SOCKETS) {
                    break;
                }
            }
            return List.copyOf(sockets);
        }
    }

    /** {@code struct nlmsghdr} and {@code struct unix_diag_req}: all sockets in all states. */
    private static void request(ByteBuffer request) {
        request.putInt(REQUEST)
                .putShort(SockDiag.BY_FAMILY)
                .putShort((short) (SockDiag.REQUEST | SockDiag.DUMP))
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
        while (at + SockDiag.HEADER <= answer.limit()) {
            int length = answer.getInt(at);
            short type = answer.getShort(at + 4);
            if (length < SockDiag.HEADER || length > answer.limit() - at || type == SockDiag.DONE) {
                return true;
            }
            if (type == SockDiag.ERROR) {
                throw new IOException("the kernel refuses to list unix sockets"
                        + (length >= SockDiag.HEADER + 4 ? " with errno " + -answer.getInt(at + SockDiag.HEADER) : ""));
            }
            if (type == SockDiag.BY_FAMILY && length >= 2 * SockDiag.HEADER) {
                sockets.add(socket(answer, at + SockDiag.HEADER, at + length));
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
        int at = from + SockDiag.HEADER;
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
}
