package io.nodekeeper.cri.socket;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.nodekeeper.cri.FailingChannel;
import java.io.IOException;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Connections of a socket that cannot accept any for a while. */
class UnixServerSocketTest {
    @TempDir
    Path directory;

    private final List<SocketChannel> clients = new ArrayList<>();
    private final List<Optional<String>> told = new ArrayList<>();
    private FailingChannel channel;
    private UnixServerSocket socket;

    @BeforeEach
    void listen() throws IOException {
        channel = FailingChannel.at(directory.resolve("server.sock"));
        socket = new UnixServerSocket(channel, 10, told::add);
    }

    @AfterEach
    void close() throws IOException {
        for (SocketChannel client : clients) {
            client.close();
        }
        socket.close();
    }

    private void connect() throws IOException {
        clients.add(SocketChannel.open(UnixDomainSocketAddress.of(directory.resolve("server.sock"))));
    }

    @Test
    void connectionsAreAcceptedAfterErrorsThatPassAndEachEpisodeIsToldOnce() throws Exception {
        // given three connections
        connect();
        connect();
        connect();

        // when the first and the third can be accepted at the fourth attempt only
        channel.fail(3);
        socket.awaitFirst();
        assertThat(socket.accept().isConnected()).isTrue();
        assertThat(socket.accept().isConnected()).isTrue();
        channel.fail(3);
        assertThat(socket.accept().isConnected()).isTrue();

        // then each of these times was told with its end
        assertThat(told)
                .containsExactly(
                        Optional.of("Too many open files"),
                        Optional.empty(),
                        Optional.of("Too many open files"),
                        Optional.empty());
    }

    @Test
    void closedSocketDoesNotTryAgain() throws Exception {
        socket.close();

        assertThatThrownBy(socket::accept).isInstanceOf(ClosedChannelException.class);

        channel.fail(1);
        assertThatThrownBy(socket::accept).isInstanceOf(IOException.class).hasMessage("Too many open files");
        assertThat(told).isEmpty();
    }
}
