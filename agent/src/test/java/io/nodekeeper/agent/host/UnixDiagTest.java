package io.nodekeeper.agent.host;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The kernel's list of unix sockets: that of this machine, and artificial answers. */
class UnixDiagTest {
    @TempDir
    Path directory;

    @Test
    void listenerShowsTheClientThatItHasNotAcceptedAndThenTheClientShowsItsPeer() throws Exception {
        UnixDomainSocketAddress address = UnixDomainSocketAddress.of(directory.resolve("s"));
        try (ServerSocketChannel server = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
                SocketChannel client = SocketChannel.open(StandardProtocolFamily.UNIX)) {
            server.bind(address, 8);
            client.connect(address);

            UnixDiag.Socket listener = named(address, true);
            assertThat(listener.pending()).hasSize(1);
            assertThat(listener.unread()).isEqualTo(1);
            assertThat(listener.most()).isEqualTo(8);
            long inode = listener.pending().getFirst();

            try (SocketChannel accepted = server.accept()) {
                client.write(ByteBuffer.wrap(new byte[5]));

                assertThat(named(address, true).pending()).isEmpty();
                UnixDiag.Socket other = named(address, false);
                assertThat(other.peer()).isEqualTo(inode);
                assertThat(other.unread()).isPositive();
                assertThat(UnixDiag.sockets())
                        .anyMatch(socket -> socket.inode() == inode
                                && socket.peer() == other.inode()
                                && socket.name().isEmpty());
                assertThat(accepted.isOpen()).isTrue();
            }
        }
    }

    @Test
    void answerIsReadUpToTheMessageThatEndsTheList() throws Exception {
        ByteBuffer answer = buffer();
        socket(answer, 101, 1, attribute(0, "\0name"), attribute(2, new int[] {102}));
        socket(answer, 103, 10, attribute(0, "/run/a\0"), attribute(3, new int[] {7, 8}), attribute(4, new int[] {2, 1
        }));
        message(answer, 3, new byte[4]);
        socket(answer, 999, 1);
        List<UnixDiag.Socket> sockets = new ArrayList<>();

        assertThat(UnixDiag.parse(answer.flip(), sockets)).isTrue();

        assertThat(sockets)
                .containsExactly(
                        new UnixDiag.Socket(101, false, "@name", 102, List.of(), 0, 0),
                        new UnixDiag.Socket(103, true, "/run/a", 0, List.of(7L, 8L), 2, 1));
    }

    @Test
    void refusalOfTheKernelIsAnError() {
        ByteBuffer answer = buffer();
        message(answer, 2, bytes(new int[] {-2}));

        assertThat(catchThrowable(() -> UnixDiag.parse(answer.flip(), new ArrayList<>())))
                .isInstanceOf(IOException.class)
                .hasMessage("the kernel refuses to list unix sockets with errno 2");
    }

    @Test
    void damagedAnswersAreReadWithoutAnOtherErrorAndEnd() {
        Random random = new Random(7);
        for (int run = 0; run < 20_000; run++) {
            ByteBuffer answer = buffer();
            socket(answer, 101, 1, attribute(0, "/run/a"), attribute(3, new int[] {7, 8}), attribute(4, new int[] {2, 1
            }));
            socket(answer, 102, 1, attribute(2, new int[] {101}));
            answer.flip();
            for (int change = 0; change < 3; change++) {
                int at = random.nextInt(answer.limit());
                answer.put(at, (byte) (random.nextBoolean() ? random.nextInt(256) : random.nextInt(48)));
            }
            answer.limit(random.nextInt(answer.limit() + 1));
            List<UnixDiag.Socket> sockets = new ArrayList<>();
            try {
                UnixDiag.parse(answer, sockets);
            } catch (IOException e) {
                assertThat(e).hasMessageStartingWith("the kernel refuses");
            }
            assertThat(sockets).hasSizeLessThan(10);
        }
    }

    private static UnixDiag.Socket named(UnixDomainSocketAddress address, boolean listens) throws IOException {
        return UnixDiag.sockets().stream()
                .filter(socket -> socket.name().equals(address.getPath().toString()) && socket.listens() == listens)
                .findFirst()
                .orElseThrow();
    }

    private static ByteBuffer buffer() {
        return ByteBuffer.allocate(512).order(ByteOrder.nativeOrder());
    }

    private static void socket(ByteBuffer answer, int inode, int state, byte[]... attributes) {
        ByteBuffer body = buffer();
        body.put((byte) 1)
                .put((byte) 1)
                .put((byte) state)
                .put((byte) 0)
                .putInt(inode)
                .putLong(0);
        for (byte[] attribute : attributes) {
            body.put(attribute);
        }
        byte[] bytes = new byte[body.position()];
        body.get(0, bytes);
        message(answer, 20, bytes);
    }

    private static void message(ByteBuffer answer, int type, byte[] body) {
        answer.putInt(16 + body.length)
                .putShort((short) type)
                .putShort((short) 0)
                .putInt(1)
                .putInt(0)
                .put(body);
    }

    private static byte[] attribute(int type, String value) {
        return attribute(type, value.getBytes(StandardCharsets.UTF_8));
    }

    private static byte[] attribute(int type, int[] values) {
        return attribute(type, bytes(values));
    }

    private static byte[] attribute(int type, byte[] value) {
        ByteBuffer attribute =
                ByteBuffer.allocate((4 + value.length + 3) / 4 * 4).order(ByteOrder.nativeOrder());
        attribute.putShort((short) (4 + value.length)).putShort((short) type).put(value);
        return attribute.array();
    }

    private static byte[] bytes(int[] values) {
        ByteBuffer bytes = ByteBuffer.allocate(4 * values.length).order(ByteOrder.nativeOrder());
        for (int value : values) {
            bytes.putInt(value);
        }
        return bytes.array();
    }
}
