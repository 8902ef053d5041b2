package io.nodekeeper.agent.host;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Whether the other end of a connection is closed: real sockets, and artificial answers. */
class TcpDiagTest {
    private static boolean hasPeerClosed(SocketChannel connection) throws IOException {
        return TcpDiag.hasPeerClosed(
                (InetSocketAddress) connection.getLocalAddress(), (InetSocketAddress) connection.getRemoteAddress());
    }

    /** Writes until the buffers are full; how many bytes these were. */
    private static long fill(SocketChannel connection) throws IOException {
        connection.configureBlocking(false);
        long all = 0;
        ByteBuffer bytes = ByteBuffer.allocate(64 << 10);
        for (int written = connection.write(bytes); written > 0; written = connection.write(bytes.clear())) {
            all += written;
        }
        return all;
    }

    private static long drain(SocketChannel connection) throws IOException {
        long all = 0;
        ByteBuffer bytes = ByteBuffer.allocate(64 << 10);
        for (int read = connection.read(bytes); read >= 0; read = connection.read(bytes.clear())) {
            all += read;
        }
        return all;
    }

    @ParameterizedTest
    @ValueSource(strings = {"127.0.0.1", "::1"})
    void aClosedPeerIsSeenBeforeItsOutputIsRead(String address) throws Exception {
        try (ServerSocketChannel server =
                        ServerSocketChannel.open().bind(new InetSocketAddress(InetAddress.getByName(address), 0));
                SocketChannel client = SocketChannel.open(server.getLocalAddress())) {
            SocketChannel peer = server.accept();
            // given a peer whose output fills all buffers
            assertThat(hasPeerClosed(client)).isFalse();
            long written = fill(peer);
            assertThat(hasPeerClosed(client)).isFalse();

            peer.close();

            assertThat(hasPeerClosed(client)).isTrue();
            assertThat(drain(client)).isEqualTo(written);
        }
    }

    @Test
    void aPeerThatHasOnlyEndedItsOutputIsNotClosed() throws Exception {
        try (ServerSocketChannel server =
                        ServerSocketChannel.open().bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
                SocketChannel client = SocketChannel.open(server.getLocalAddress());
                SocketChannel peer = server.accept()) {
            fill(peer);
            peer.shutdownOutput();

            assertThat(hasPeerClosed(client)).isFalse();
        }
    }

    @Test
    void nothingIsSaidOfAConnectionThatThisMachineDoesNotHave() throws Exception {
        assertThat(TcpDiag.hasPeerClosed(
                        new InetSocketAddress(InetAddress.getByName("192.0.2.1"), 40_000),
                        new InetSocketAddress(InetAddress.getByName("192.0.2.2"), 443)))
                .isFalse();
    }

    @Test
    void onlyAWholeAnswerAboutASocketWithoutAProcessSaysThatItIsClosed() {
        Random random = new Random(5);
        for (int length = 0; length < 200; length++) {
            byte[] bytes = new byte[length];
            random.nextBytes(bytes);
            ByteBuffer answer = ByteBuffer.wrap(bytes).order(ByteOrder.nativeOrder());
            boolean isWhole = length >= 88;
            if (isWhole) {
                answer.putShort(4, (short) 20).put(17, (byte) 4).putInt(84, 0);
            }

            assertThat(TcpDiag.isClosed(answer)).as("%s bytes", length).isEqualTo(isWhole);
            if (isWhole) {
                // Another type of message, an established connection, and one that a process still has.
                assertThat(TcpDiag.isClosed(answer.putShort(4, (short) 2))).isFalse();
                assertThat(TcpDiag.isClosed(answer.putShort(4, (short) 20).put(17, (byte) 1)))
                        .isFalse();
                assertThat(TcpDiag.isClosed(answer.put(17, (byte) 4).putInt(84, 7)))
                        .isFalse();
            }
        }
    }
}
