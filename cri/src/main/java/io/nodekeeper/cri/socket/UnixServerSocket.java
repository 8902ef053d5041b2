package io.nodekeeper.cri.socket;

import java.io.IOException;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketAddress;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import javax.net.ServerSocketFactory;

/**
 * A unix-domain channel that listens already, as the {@link ServerSocket} that gRPC requires. One thread accepts; the other
 * methods are thread-safe.
 */
public final class UnixServerSocket extends ServerSocket {
    private final ServerSocketChannel channel;
    private final int most;
    private final Consumer<String> failed;
    /** At most {@link #most}. */
    private final List<UnixSocket> open = new CopyOnWriteArrayList<>();

    private Optional<SocketChannel> first;

    /**
     * Wraps {@code channel}.
     *
     * @param first a connection that was accepted before, if any
     * @param most the most connections at the same time; further ones are closed
     * @param failed receives why no further connections can be accepted
     */
    public UnixServerSocket(
            ServerSocketChannel channel, Optional<SocketChannel> first, int most, Consumer<String> failed)
            throws IOException {
        this.channel = channel;
        this.first = first;
        this.most = most;
        this.failed = failed;
    }

    /** A factory that gives a server this socket, whatever port is asked for. */
    public ServerSocketFactory factory() {
        return new GivenServerSocket(this);
    }

    @Override
    public Socket accept() throws IOException {
        while (true) {
            SocketChannel next = first.isPresent() ? first.get() : connection();
            first = Optional.empty();
            open.removeIf(UnixSocket::isClosed);
            if (open.size() < most) {
                UnixSocket socket = new UnixSocket(next);
                open.add(socket);
                return socket;
            }
            next.close();
        }
    }

    private SocketChannel connection() throws IOException {
        try {
            return channel.accept();
        } catch (ClosedChannelException e) {
            throw e;
        } catch (IOException e) {
            failed.accept(String.valueOf(e.getMessage()));
            throw e;
        }
    }

    /** Does nothing: the channel listens. */
    @Override
    public void bind(SocketAddress address) {}

    /** Does nothing: the channel listens. */
    @Override
    public void bind(SocketAddress address, int backlog) {}

    /** Closes all connections, too. */
    @Override
    public void close() throws IOException {
        channel.close();
        disconnect();
    }

    /** Closes all connections; further ones are accepted. */
    public void disconnect() throws IOException {
        for (UnixSocket socket : open) {
            socket.close();
        }
    }

    @Override
    public boolean isClosed() {
        return !channel.isOpen();
    }

    @Override
    public SocketAddress getLocalSocketAddress() {
        try {
            return channel.getLocalAddress();
        } catch (IOException e) {
            throw new IllegalStateException("a closed socket has no address", e);
        }
    }
}
